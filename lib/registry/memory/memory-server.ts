import type { Clock } from '../environment.js';
import type { WatchEvent } from '../live-views.js';
import { type Change, MemoryTree } from './memory-tree.js';

/** A client's connection, as far as its server has to know it. */
export interface ServedConnection {
  readonly session: string;
  notify(path: string, event: WatchEvent): void;
  proceed(): void;
  break(): void;
}

export interface ServerListener {
  /** Who can be reached has changed. */
  reachabilityChanged(): void;
  /** A server that lagged behind has applied more of the log. */
  caughtUp(): void;
}

export interface LogEntry {
  readonly id: number;
  readonly change: Change;
}

/**
 * A replica. It serves reads by itself, so a client of a server that lags behind reads the past, and a
 * client of a server that is cut off from the others may have no session left without hearing of it.
 * @publicApi
 */
export class MemoryServer {
  readonly tree = new MemoryTree();
  readonly #connections = new Set<ServedConnection>();
  readonly #dataWatches = new Map<string, Set<ServedConnection>>();
  readonly #childWatches = new Map<string, Set<ServedConnection>>();
  #backlog: LogEntry[] = [];
  #lag = 0;
  #stalled = false;
  #up = true;
  #appliedId = 0;

  constructor(
    readonly number: number,
    private readonly clock: Clock,
    private readonly listener: ServerListener,
  ) {}

  /** The id of the newest change that this server has applied. */
  get appliedId(): number {
    return this.#appliedId;
  }

  get isUp(): boolean {
    return this.#up;
  }

  /** Whether writes and session contacts get through to the others. */
  get isInTouch(): boolean {
    return this.#up && !this.#stalled;
  }

  /** How many one-shot watches are set. */
  get watchCount(): number {
    let count = 0;
    for (const watches of [this.#dataWatches, this.#childWatches]) {
      for (const connections of watches.values()) count += connections.size;
    }
    return count;
  }

  /** From now on changes reach this server `milliseconds` late. */
  lag(milliseconds: number): void {
    this.#lag = milliseconds;
  }

  /** Cuts the server off from the others: it goes on answering reads and pings. */
  stall(): void {
    this.#stalled = true;
    this.listener.reachabilityChanged();
  }

  /** In touch again: it catches up, and the writes that it held go on. */
  resume(): void {
    this.#stalled = false;
    this.#catchUp(Infinity);
    for (const connection of this.#connections) connection.proceed();
    this.listener.reachabilityChanged();
  }

  /** The process ends: all connections break. */
  stop(): void {
    this.#up = false;
    for (const connection of [...this.#connections]) connection.break();
    this.listener.reachabilityChanged();
  }

  /** The process is back, with all that was committed meanwhile. */
  start(): void {
    this.#up = true;
    this.#catchUp(Infinity);
    this.listener.reachabilityChanged();
  }

  replicate(entry: LogEntry): void {
    this.#backlog.push(entry);
    if (!this.isInTouch) return;
    if (this.#lag === 0) this.#catchUp(entry.id);
    else {
      this.clock.setTimer(() => {
        if (!this.isInTouch) return;
        this.#catchUp(entry.id);
        this.listener.caughtUp();
      }, this.#lag);
    }
  }

  attach(connection: ServedConnection): void {
    this.#connections.add(connection);
  }

  detach(connection: ServedConnection): void {
    this.#connections.delete(connection);
    for (const watches of [this.#dataWatches, this.#childWatches]) {
      for (const [path, connections] of watches) {
        if (connections.delete(connection) && connections.size === 0) watches.delete(path);
      }
    }
  }

  watchData(path: string, connection: ServedConnection): void {
    addWatch(this.#dataWatches, path, connection);
  }

  watchChildren(path: string, connection: ServedConnection): void {
    addWatch(this.#childWatches, path, connection);
  }

  #catchUp(id: number): void {
    if (this.#backlog.length === 0) return;
    while (this.#backlog.length > 0 && this.#backlog[0]!.id <= id) {
      const entry = this.#backlog.shift()!;
      this.tree.apply(entry.change, BigInt(entry.id), this.#fire);
      this.#appliedId = entry.id;
      if (entry.change.kind === 'close-session') this.#endSession(entry.change.session);
    }
    for (const connection of this.#connections) connection.proceed();
  }

  #endSession(session: string): void {
    for (const connection of [...this.#connections]) {
      if (connection.session === session) connection.break();
    }
  }

  readonly #fire = (path: string, event: WatchEvent): void => {
    if (event !== 'children') this.#fireOne(this.#dataWatches, path, event);
    if (event === 'children' || event === 'deleted') this.#fireOne(this.#childWatches, path, event);
  };

  #fireOne(watches: Map<string, Set<ServedConnection>>, path: string, event: WatchEvent): void {
    const connections = watches.get(path);
    if (!connections) return;
    watches.delete(path);
    for (const connection of connections) connection.notify(path, event);
  }
}

function addWatch(
  watches: Map<string, Set<ServedConnection>>,
  path: string,
  connection: ServedConnection,
): void {
  const connections = watches.get(path) ?? new Set();
  watches.set(path, connections.add(connection));
}
