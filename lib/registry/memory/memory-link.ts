import type { Clock, Timer } from '../environment.js';
import type { WatchEvent } from '../live-views.js';
import type { ConnectionListener, MemoryConnection } from './memory-connection.js';
import { MemoryLane } from './memory-lane.js';
import { isWrite, type MemoryRequest } from './memory-request.js';
import type { MemoryServer } from './memory-server.js';

/** Which way of a connection a fault concerns: `up` to the server, `down` from it. @publicApi */
export type Direction = 'up' | 'down' | 'both';

/** What a link asks of the cluster that it leads to. */
export interface LinkTarget {
  readonly clock: Clock;
  readonly latency: () => number;
  pickServer(seenId: number, avoided: number | undefined): MemoryServer | undefined;
  startSession(timeout: number, link: MemoryLink): string;
  isAlive(session: string): boolean;
  accept(server: MemoryServer, session: string, listener: ConnectionListener): MemoryConnection;
  endSession(session: string): void;
  /** Who can be reached has changed. */
  review(): void;
}

/** What the owner of a link, a client, hears from it. */
export interface LinkListener {
  readonly label: string;
  /** Connected, in the session that was asked for or, after `expired`, in a new one. */
  attached(session: string): void;
  notified(path: string, event: WatchEvent): void;
  broken(): void;
  /** The cluster does not know the session any more. */
  expired(): void;
  /** A fault was asked for: from now on time counts. */
  disturbed(): void;
  /** Nothing will be heard of this client any more. */
  crashed(): void;
  setTimer(callback: () => void, delay: number): Timer;
}

/**
 * The way between a client and the cluster, with every fault that one asks for. It connects whenever
 * it is wanted and the faults allow it; the faults themselves never end by themselves.
 * @publicApi
 */
export class MemoryLink implements ConnectionListener {
  readonly #up: MemoryLane;
  readonly #down: MemoryLane;
  #connection: MemoryConnection | undefined;
  #attempt: symbol | undefined;
  #wanted = false;
  #cut = false;
  #crashed = false;
  #delay = 0;
  #session: string | undefined;
  #seenId = 0;
  #silence: Timer | undefined;
  #losesNextRequest = false;

  constructor(
    private readonly cluster: LinkTarget,
    private readonly sessionTimeout: number,
    private readonly listener: LinkListener,
  ) {
    this.#up = new MemoryLane(cluster.clock, cluster.latency);
    this.#down = new MemoryLane(cluster.clock, () => cluster.latency() + this.#delay);
  }

  /** Whether the cluster hears from this client, so that its session is kept alive. */
  get isHeard(): boolean {
    return (
      !this.#cut &&
      !this.#up.frozen &&
      this.#connection !== undefined &&
      this.#connection.isOpen &&
      this.#connection.server.isInTouch
    );
  }

  get label(): string {
    return this.listener.label;
  }

  /** From now on time counts for this client. */
  disturb(): void {
    if (!this.#crashed) this.listener.disturbed();
  }

  /** The number of the server that this client is connected to. */
  get server(): number | undefined {
    return this.#connection?.server.number;
  }

  // What the client does

  open(): void {
    this.#wanted = true;
    this.tryAttach();
  }

  send(request: MemoryRequest): void {
    if (this.#losesNextRequest && isWrite(request.command)) {
      this.#losesNextRequest = false;
      return this.#break();
    }
    const connection = this.#connection;
    this.#up.send(() => connection?.receive(request));
  }

  /** Forgets the session, so that the next attachment makes a new one. */
  forgetSession(): void {
    this.#session = undefined;
    this.#seenId = 0;
  }

  /** Ends the session in good order, as far as the cluster can be reached. */
  close(): void {
    this.#wanted = false;
    this.#silence?.cancel();
    const session = this.#session;
    if (session !== undefined && this.isHeard) this.cluster.endSession(session);
    this.#drop();
    this.cluster.review();
  }

  /** Leaves the present server and tries another one. */
  reconnect(): void {
    if (!this.#connection) return;
    const avoided = this.#connection.server.number;
    this.#drop();
    this.listener.broken();
    this.tryAttach(avoided);
  }

  // Faults, for tests and simulations

  /** Breaks the connection, as a reset would; both sides notice. Holds until `heal`. */
  cut(): void {
    this.listener.disturbed();
    this.#cut = true;
    this.#break();
  }

  heal(): void {
    this.#cut = false;
    this.tryAttach();
    this.cluster.review();
  }

  /** Holds what is under way in this direction; nobody is told. Holds until `thaw`. */
  freeze(direction: Direction = 'both'): void {
    this.listener.disturbed();
    if (direction !== 'down') this.#up.freeze();
    if (direction !== 'up') this.#down.freeze();
    this.#watchForSilence();
    this.cluster.review();
  }

  thaw(): void {
    this.#silence?.cancel();
    this.#silence = undefined;
    this.#up.thaw();
    this.#down.thaw();
    this.tryAttach();
    this.cluster.review();
  }

  /** Delays every answer and event by so many milliseconds. */
  delay(milliseconds: number): void {
    this.listener.disturbed();
    this.#delay = milliseconds;
  }

  /** The next write takes effect, but its answer is lost with the connection. */
  loseNextAnswer(): void {
    this.listener.disturbed();
    this.#connection?.dropNextWriteAnswer();
  }

  /** The connection breaks instead of taking the next write along. */
  loseNextRequest(): void {
    this.listener.disturbed();
    this.#losesNextRequest = true;
  }

  /** The cluster ends the session; the client finds out as soon as a message gets through. */
  expire(): void {
    this.listener.disturbed();
    if (this.#session !== undefined) this.cluster.endSession(this.#session);
  }

  /** The client's process dies: it neither says nor hears anything any more. */
  crash(): void {
    this.#crashed = true;
    this.#wanted = false;
    this.#silence?.cancel();
    this.#drop();
    this.listener.crashed();
    this.cluster.review();
  }

  // What the server's end of the connection tells

  replied(serverId: number, settle: () => void): void {
    this.#down.send(() => {
      this.#seenId = Math.max(this.#seenId, serverId);
      settle();
    });
  }

  notified(path: string, event: WatchEvent): void {
    this.#down.send(() => this.listener.notified(path, event));
  }

  broken(): void {
    this.#break();
  }

  /** Connects if that is wanted and possible; the cluster calls it whenever something has changed. */
  tryAttach(avoidedServer?: number): void {
    if (!this.#wanted || this.#cut || this.#connection || this.#attempt) return;
    const server = this.cluster.pickServer(this.#seenId, avoidedServer);
    if (!server) return;
    const attempt = (this.#attempt = Symbol('attempt'));
    const fail = (): void => {
      if (this.#attempt !== attempt) return;
      this.#attempt = undefined;
      this.tryAttach();
    };
    this.#up.send(() => {
      if (!server.isInTouch || server.appliedId < this.#seenId) return this.#down.send(fail);
      const session = this.#session ?? this.cluster.startSession(this.sessionTimeout, this);
      if (!this.cluster.isAlive(session)) {
        return this.#down.send(() => {
          this.#attempt = undefined;
          this.listener.expired();
        });
      }
      this.#session = session;
      const connection = this.cluster.accept(server, session, this);
      this.#connection = connection;
      this.cluster.review();
      this.#down.send(() => {
        if (this.#attempt !== attempt) return;
        this.#attempt = undefined;
        this.listener.attached(session);
      });
    });
  }

  /** The connection is gone; the client hears of it when what is held reaches it. */
  #break(): void {
    if (!this.#connection && !this.#attempt) return;
    this.#drop();
    this.#down.send(() => {
      if (this.#crashed) return;
      this.listener.broken();
      this.tryAttach();
    });
    this.cluster.review();
  }

  #drop(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#attempt = undefined;
    this.#up.clear();
    this.#down.clear();
  }

  /** A client that hears nothing for two thirds of its timeout gives the connection up. */
  #watchForSilence(): void {
    this.#silence ??= this.listener.setTimer(
      () => {
        this.#silence = undefined;
        this.#drop();
        this.listener.broken();
        this.tryAttach();
        this.cluster.review();
      },
      (this.sessionTimeout * 2) / 3,
    );
  }
}
