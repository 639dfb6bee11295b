import type { Environment, Timer } from '../environment.js';
import type { WatchEvent } from '../live-views.js';
import { Connection, type ConnectionEnd } from './connection.js';
import type { ServerAddresses } from './server-addresses.js';
import { endSession } from './session-ending.js';
import type { ClientFactory, SessionCredentials } from './zookeeper-client.js';

/** What the keeper tells of its session. */
export interface SessionListener {
  /** A server serves the session through this connection, until it ends. */
  connected(connection: Connection): void;
  /** The connection broke; the session may live on. */
  suspended(): void;
  /** The store has ended the session; the keeper goes on to make a new one. */
  expired(): void;
  /** A server does not accept the credentials; the search goes on all the same. */
  refused(address: string): void;
  notified(path: string, event: WatchEvent): void;
}

export interface KeeperOptions {
  readonly sessionTimeout: number;
  readonly connectTimeout: number;
  readonly credentials: string | undefined;
}

/** A connection that breaks earlier counts as a failure, or a bad server would be tried without rest. */
const STABLE_AFTER = 1_000;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;
/** How long ending the session may take. */
const LAST_WORDS = 2_000;

/**
 * Keeps one session alive on changing servers. A native client is used for one connection to one address
 * only, and the session is handed from client to client by its id and password. So none of the native
 * client's own reconnecting is ever at work: waiting a third of the session timeout between rounds,
 * spinning on an even number of servers, staying with a silent server for most of the session timeout,
 * setting all watches again in one request that may be too large.
 *
 * Invariant: at any time one search is under way or one connection is established, never both.
 */
export class SessionKeeper {
  #factory: ClientFactory | undefined;
  #connection: Connection | undefined;
  /** When the connection before has let go of its socket. */
  #freed: Promise<void> | undefined;
  #session: SessionCredentials | undefined;
  #timer: Timer | undefined;
  #isStarted = false;
  #isStopped = false;
  /** The server tried last. */
  #address: string | undefined;
  #establishedAt = 0;
  /** Rounds through all servers since the last stable connection. */
  #rounds = 0;
  /** Whether it has been said that the credentials are refused. */
  #isRefused = false;

  constructor(
    private readonly options: KeeperOptions,
    private readonly addresses: ServerAddresses,
    private readonly environment: Environment,
    private readonly load: () => Promise<ClientFactory>,
    private readonly listener: SessionListener,
  ) {}

  /** Begins to look for a server, once; rejects only if the native client cannot be loaded. */
  async start(): Promise<void> {
    this.#factory ??= await this.load();
    if (this.#isStarted || this.#isStopped) return;
    this.#isStarted = true;
    void this.#search(this.#factory);
  }

  /** Leaves the current server for another one, with the session. */
  reconnect(): void {
    if (this.#connection?.isEstablished) this.#connection.leave();
  }

  /** Ends the search, and the session on whichever server hears of it in time. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    const wasEstablished = this.#connection?.isEstablished;
    await this.#connection?.discard();
    await this.#freed;
    if (!this.#session || this.#address === undefined) return;
    const { clock } = this.environment;
    const others = this.#inTurn(this.addresses.current);
    const giveUpAt = clock.monotonic() + LAST_WORDS;
    for (const address of wasEstablished ? [this.#address, ...others] : others) {
      const left = giveUpAt - clock.monotonic();
      if (left <= 0 || (await endSession(address, this.#session, clock, left / 2))) return;
    }
  }

  /** Tries one server after the other until one takes the session. */
  async #search(factory: ClientFactory): Promise<void> {
    for (;;) {
      const addresses = this.#inTurn(await this.addresses.resolve());
      for (const address of addresses) {
        // Else the server would take the session, and the socket, away from the client before.
        await this.#freed;
        // Not on the call stack of that client.
        await this.#sleep(0);
        if (this.#isStopped) return;
        if (await this.#try(factory, address, this.#patience(addresses.length))) return;
      }
      if (this.#isStopped) return;
      this.#rounds += 1;
      await this.#pause();
    }
  }

  /** Searches after a connection: at once, unless it was the latest of several that broke early. */
  async #searchAgain(factory: ClientFactory): Promise<void> {
    if (this.environment.clock.monotonic() - this.#establishedAt >= STABLE_AFTER) {
      this.#rounds = 0;
    } else {
      await this.#pause();
      this.#rounds += 1;
    }
    await this.#search(factory);
  }

  /** Starts behind the server that was tried last: after a loss that is the one not to go back to. */
  #inTurn(addresses: readonly string[]): readonly string[] {
    const next = this.#address === undefined ? 0 : addresses.indexOf(this.#address) + 1;
    return [...addresses.slice(next), ...addresses.slice(0, next)];
  }

  /**
   * How long one server may take. Short at first, so that a silent one costs neither the session nor the
   * caller's connect timeout; then longer, so that slow servers get done with a crowd of clients.
   */
  #patience(servers: number): number {
    const { sessionTimeout, connectTimeout } = this.options;
    const first = Math.min(connectTimeout, sessionTimeout / 2) / (servers + 1);
    return Math.min(first * 2 ** this.#rounds, (sessionTimeout * 2) / 3);
  }

  /** Resolves to whether the server took the session. */
  #try(factory: ClientFactory, address: string, patience: number): Promise<boolean> {
    const { sessionTimeout, credentials } = this.options;
    const client = factory({ address, sessionTimeout, session: this.#session });
    this.#address = address;
    return new Promise((resolve) => {
      let isEstablished = false;
      const connection = new Connection(client, this.environment.clock, credentials, {
        established: () => {
          isEstablished = true;
          resolve(true);
          this.#established(connection);
        },
        ended: (reason, freed) => {
          this.#freed = freed;
          this.#ended(reason);
          resolve(false);
          if (!isEstablished) return;
          this.listener.suspended();
          if (!this.#isStopped) void this.#searchAgain(factory);
        },
        notified: (path, event) => this.listener.notified(path, event),
      });
      this.#connection = connection;
      connection.open(patience);
    });
  }

  #established(connection: Connection): void {
    const { session } = connection;
    const which = this.#session?.id === session.id ? 'our' : 'the new';
    this.#session = session;
    this.#establishedAt = this.environment.clock.monotonic();
    this.#isRefused = false;
    this.environment.log.log(`ZooKeeper ${this.#address} serves ${which} session ${session.id}`);
    this.listener.connected(connection);
  }

  #ended(reason: ConnectionEnd): void {
    const { log } = this.environment;
    this.#connection = undefined;
    switch (reason) {
      case 'failed':
        log.debug(`ZooKeeper ${this.#address} does not take the session`);
        break;
      case 'broken':
        log.warn(`the connection to ZooKeeper ${this.#address} is lost`);
        break;
      case 'expired':
        log.warn(`the ZooKeeper session ${this.#session?.id} has expired`);
        this.#session = undefined;
        this.listener.expired();
        break;
      case 'refused':
        this.#refused(this.#address!);
        break;
    }
  }

  #refused(address: string): void {
    // Once, however often it is tried again: only a person can change it.
    if (!this.#isRefused) {
      this.environment.log.error(`ZooKeeper ${address} refuses the credentials in registry.auth`);
    }
    this.#isRefused = true;
    this.listener.refused(address);
  }

  async #pause(): Promise<void> {
    if (this.#rounds === 0) return;
    const longest = Math.min(LONGEST_PAUSE, this.options.sessionTimeout / 6);
    const pause = Math.min(FIRST_PAUSE * 2 ** (this.#rounds - 1), longest);
    // Spread, or all clients of a restarted server would come back in step.
    await this.#sleep(pause * (0.75 + this.environment.random.fraction() / 2));
  }

  /** Never ends once the keeper is stopped. */
  #sleep(delay: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = this.environment.clock.setTimer(resolve, delay);
    });
  }
}
