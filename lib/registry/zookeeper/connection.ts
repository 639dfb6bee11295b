import type { Clock, Timer } from '../environment.js';
import type { WatchEvent } from '../live-views.js';
import { ZooKeeperCalls } from './zookeeper-calls.js';
import {
  ClientState,
  CloseCode,
  type NativeClient,
  type SessionCredentials,
} from './zookeeper-client.js';
import { Code } from './zookeeper-errors.js';

/**
 * - `failed`: the server did not take the session;
 * - `broken`: it did, and the connection was lost later;
 * - `expired`: the session is over;
 * - `refused`: the server does not accept the credentials.
 */
export type ConnectionEnd = 'failed' | 'broken' | 'expired' | 'refused';

export interface ConnectionListener {
  /** The server serves the session, and takes us for who we say we are. */
  established(): void;
  /** Told once, and nothing after it; `freed` resolves when the client has let go of its socket. */
  ended(reason: ConnectionEnd, freed: Promise<void>): void;
  notified(path: string, event: WatchEvent): void;
}

const WATCH_EVENTS: Record<string, WatchEvent> = {
  created: 'created',
  deleted: 'deleted',
  changed: 'changed',
  child: 'children',
};

/** What the native client closes itself for. */
const END_BY_CODE = new Map<number, ConnectionEnd>([
  [CloseCode.EXPIRED, 'expired'],
  [CloseCode.AUTH_FAILED, 'refused'],
]);

/** No list of servers: a client that has it fails its next turn and takes its socket out of the event loop. */
const MALFORMED = '-';
/** Where nobody is: a client whose list has only this lets go of its connection. */
const NOWHERE = '255.255.255.255:1';
/** How long to wait for a server's last answer. */
const FAREWELL = 250;

/** The native client does not tell that an attempt has failed, so its state is looked at this often. */
const LOOK_EVERY = 20;

/** The one connection that a native client is used for. */
export class Connection {
  #steps: number;
  #timer: Timer | undefined;
  #isOver = false;
  readonly calls: ZooKeeperCalls;

  constructor(
    private readonly client: NativeClient,
    private readonly clock: Clock,
    private readonly credentials: string | undefined,
    private readonly listener: ConnectionListener,
  ) {
    this.#steps = credentials === undefined ? 1 : 2;
    this.calls = new ZooKeeperCalls(client, () => this.leave());
  }

  /** Once established. */
  get session(): SessionCredentials {
    return { id: this.client.client_id, password: this.client.client_password };
  }

  /** The session timeout that the server has granted, once established. */
  get timeout(): number {
    return this.client.timeout;
  }

  get isEstablished(): boolean {
    return this.#steps === 0 && !this.#isOver;
  }

  /** Gives up after `patience` milliseconds. */
  open(patience: number): void {
    const { client } = this;
    client.on('connect', () => this.#step());
    client.on('connecting', () => this.leave());
    client.on('close', (_client, code: number) => {
      this.#silence();
      this.listener.ended(END_BY_CODE.get(code) ?? 'broken', Promise.resolve());
    });
    for (const [name, event] of Object.entries(WATCH_EVENTS)) {
      client.on(name, (_client, path: string) => this.listener.notified(path, event));
    }
    client.init();
    if (this.credentials !== undefined) {
      // Kept by the client and sent before any other request.
      client.add_auth('digest', this.credentials, (rc) => {
        if (rc === Code.OK) this.#step();
      });
    }
    this.#look(this.clock.monotonic() + patience);
  }

  /** Lets go of the server without ending the session. */
  leave(): void {
    if (this.#isOver) return;
    this.#silence();
    const freed = this.#free();
    this.listener.ended(this.#steps === 0 ? 'broken' : 'failed', freed);
  }

  /** The same without a word to the listener; resolves when the client has let go of its socket. */
  async discard(): Promise<void> {
    if (this.#isOver) return;
    this.#silence();
    await this.#free();
  }

  #step(): void {
    if (this.#isOver) return;
    this.#steps -= 1;
    if (this.#steps > 0) return;
    this.#timer?.cancel();
    this.listener.established();
  }

  #look(giveUpAt: number): void {
    this.#timer = this.clock.setTimer(() => {
      if (isAtWork(this.client) && this.clock.monotonic() < giveUpAt) this.#look(giveUpAt);
      else this.leave();
    }, LOOK_EVERY);
  }

  #silence(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.client.removeAllListeners();
  }

  /**
   * A client that is not connected has nobody to tell that the session shall end: it only frees itself. At
   * once, because it has closed its socket without taking it out of the event loop, and whatever is opened
   * next may get the same file descriptor.
   */
  async #free(): Promise<void> {
    if (this.client.state === ClientState.CONNECTED) {
      await this.#stopPolling();
      this.client.set_servers(NOWHERE);
    }
    this.client.close();
  }

  /**
   * The native client closes its socket first and stops polling it afterwards. Where a child process has
   * inherited the socket (it is not close-on-exec), the event loop then spins for as long as the child
   * lives. So the polling is stopped beforehand, by a turn that fails: an answer makes it take one.
   */
  async #stopPolling(): Promise<void> {
    await this.#tick();
    this.client.set_servers(MALFORMED);
    await new Promise<void>((resolve) => {
      const timer = this.clock.setTimer(resolve, FAREWELL);
      this.client.a_sync('/', () => {
        timer.cancel();
        resolve();
      });
      // Sending has failed, and the socket is closed already: not one turn of the event loop may follow.
      if (this.client.state !== ClientState.CONNECTED) {
        timer.cancel();
        resolve();
      }
    });
    if (this.client.state === ClientState.CONNECTED) await this.#tick();
  }

  /** Gets off the native client's own call stack, on which it would put its closing off. */
  #tick(): Promise<void> {
    return new Promise((resolve) => {
      this.clock.setTimer(resolve, 0);
    });
  }
}

function isAtWork({ state }: NativeClient): boolean {
  return (
    state === ClientState.CONNECTING ||
    state === ClientState.ASSOCIATING ||
    state === ClientState.CONNECTED
  );
}
