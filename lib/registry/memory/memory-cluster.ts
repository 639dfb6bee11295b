import { Observable, Subject } from 'rxjs';
import {
  type Clock,
  type Environment,
  type Random,
  systemClock,
  systemEnvironment,
  systemRandom,
  type Timer,
} from '../environment.js';
import { parentPath } from '../node-path.js';
import { ANY_VERSION } from '../registry.js';
import {
  BadVersionError,
  InvalidArgumentError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  type OperationSubject,
} from '../registry.errors.js';
import {
  type CommitLog,
  type ConnectionListener,
  MemoryConnection,
  SessionEnded,
} from './memory-connection.js';
import type { LinkTarget, MemoryLink } from './memory-link.js';
import { MemoryRegistry } from './memory-registry.js';
import type { Write } from './memory-request.js';
import { MemoryServer, type ServerListener } from './memory-server.js';
import { type Change, MemoryTree, sequentialPath } from './memory-tree.js';

/** @publicApi */
export interface MemoryClusterOptions {
  /** Milliseconds after which a session that was cut off ends. @default 10000 */
  readonly sessionTimeout?: number;
  /**
   * Whether leases run out by time, as on ZooKeeper. If not, they do so only for a session that a
   * fault was asked for, so that a debugger or faked timers cost nothing. @default false
   */
  readonly timed?: boolean;
  /** How many servers the cluster has; more than one matters only for faults. @default 1 */
  readonly servers?: number;
  /** Milliseconds that a message takes, asked for each message. @default () => 0 */
  readonly latency?: () => number;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** @publicApi */
export interface MemoryRegistryOptions {
  /** A name to find the registry by in `cluster.registries`. */
  readonly label?: string;
  /** @default the cluster's */
  readonly sessionTimeout?: number;
  /** The client's own clock, randomness and log. @default the system's */
  readonly environment?: Environment;
}

/** A change that the cluster has committed, for those who watch from outside. @publicApi */
export interface Commit {
  readonly id: number;
  readonly change: Change;
  /** The label of the client that asked for it; undefined where a session ended. */
  readonly by: string | undefined;
}

interface ClusterSession {
  readonly id: string;
  readonly timeout: number;
  readonly link: MemoryLink;
  expiry: Timer | undefined;
}

/**
 * A coordination store in one process, with ZooKeeper's promises and, on request, its bad days. All
 * that is committed goes through one log, which the servers replay; a session ends by an entry in it.
 * @publicApi
 */
export class MemoryCluster implements LinkTarget, CommitLog, ServerListener {
  readonly clock: Clock;
  readonly latency: () => number;
  readonly servers: readonly MemoryServer[];
  readonly timed: boolean;
  /** Every registry made by this cluster that has connected and neither closed nor crashed. */
  readonly registries = new Set<MemoryRegistry>();
  readonly #random: Random;
  readonly #sessionTimeout: number;
  readonly #tree = new MemoryTree();
  readonly #sessions = new Map<string, ClusterSession>();
  readonly #commits = new Subject<Commit>();
  #committedId = 0;
  #nextSession = 1;
  /** Whether a client found no server that has seen as much as it has. */
  #someoneWaits = false;

  constructor(options: MemoryClusterOptions = {}) {
    const { sessionTimeout = 10_000, servers = 1 } = options;
    assertTimeout('sessionTimeout', sessionTimeout);
    if (!Number.isInteger(servers) || servers < 1) {
      throw new InvalidArgumentError(`servers: ${String(servers)} is not a positive whole number`);
    }
    this.clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.latency = options.latency ?? (() => 0);
    this.timed = options.timed ?? false;
    this.#sessionTimeout = sessionTimeout;
    this.servers = Array.from(
      { length: servers },
      (_, index) => new MemoryServer(index, this.clock, this),
    );
  }

  /** Each change right after it was committed, before anybody else hears of it. */
  get commits$(): Observable<Commit> {
    return this.#commits.asObservable();
  }

  get committedId(): number {
    return this.#committedId;
  }

  /** How many nodes there are, the root included. */
  get nodeCount(): number {
    return this.#tree.size;
  }

  /** A client of this cluster. It connects when `connect()` is called. */
  registry(options: MemoryRegistryOptions = {}): MemoryRegistry {
    const { sessionTimeout = this.#sessionTimeout, label = '' } = options;
    assertTimeout('sessionTimeout', sessionTimeout);
    const environment = options.environment ?? systemEnvironment();
    return new MemoryRegistry(this, { label, sessionTimeout, environment });
  }

  // What links and connections ask for

  pickServer(seenId: number, avoided: number | undefined): MemoryServer | undefined {
    const usable = this.servers.filter((server) => server.isInTouch && server.appliedId >= seenId);
    const others = usable.filter((server) => server.number !== avoided);
    const choice = others.length > 0 ? others : usable;
    if (choice.length === 0) this.#someoneWaits = true;
    return choice[Math.floor(this.#random.fraction() * choice.length)];
  }

  startSession(timeout: number, link: MemoryLink): string {
    const id = (this.#nextSession++).toString(16).padStart(8, '0');
    this.#sessions.set(id, { id, timeout, link, expiry: undefined });
    return id;
  }

  isAlive(session: string): boolean {
    return this.#sessions.has(session);
  }

  accept(server: MemoryServer, session: string, listener: ConnectionListener): MemoryConnection {
    return new MemoryConnection(this, server, session, listener);
  }

  endSession(id: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    session.expiry?.cancel();
    this.#sessions.delete(id);
    this.#append({ kind: 'close-session', session: id }, undefined);
  }

  /** Something about who can be reached has changed: start or stop the sessions' expiry, reconnect. */
  review(): void {
    const isCounting = this.servers.some((server) => server.isInTouch);
    for (const session of this.#sessions.values()) this.#reviewExpiry(session, isCounting);
    this.#attachWaiting();
  }

  // What servers tell

  reachabilityChanged(): void {
    this.review();
  }

  caughtUp(): void {
    if (this.#someoneWaits) this.#attachWaiting();
  }

  /** Carries out a write of a session, or throws the reason why not. */
  commit(sessionId: string, write: Write, subject: OperationSubject): unknown {
    const session = this.#sessions.get(sessionId);
    if (!session) throw new SessionEnded();
    const by = session.link.label;
    switch (write.kind) {
      case 'create':
        return this.#commitCreate(sessionId, write, subject, by);
      case 'set':
        this.#assertVersion(write.path, write.version, subject);
        this.#append({ kind: 'set', path: write.path, data: write.data }, by);
        return this.#tree.stat(write.path);
      case 'delete': {
        const stat = this.#assertVersion(write.path, write.version, subject);
        if (stat.childCount > 0) throw new NotEmptyError(subject);
        this.#append({ kind: 'delete', path: write.path }, by);
        return undefined;
      }
    }
  }

  #commitCreate(
    session: string,
    write: Extract<Write, { kind: 'create' }>,
    subject: OperationSubject,
    by: string | undefined,
  ): string {
    const parent = parentPath(write.path);
    if (write.parents) this.#createParents(parent, subject, by);
    const stat = this.#tree.stat(parent);
    if (!stat) throw new NoNodeError(subject);
    if (stat.owner !== undefined) throw new NoChildrenForEphemeralsError(subject);
    const path =
      write.mode === 'ephemeral-sequential'
        ? sequentialPath(write.path, this.#tree.nextSequence(parent))
        : write.path;
    if (this.#tree.stat(path)) throw new NodeExistsError(subject);
    const owner = write.mode === 'persistent' ? undefined : session;
    this.#append({ kind: 'create', path, data: write.data, owner }, by);
    return path;
  }

  #createParents(path: string, subject: OperationSubject, by: string | undefined): void {
    const stat = this.#tree.stat(path);
    if (stat?.owner !== undefined) throw new NoChildrenForEphemeralsError(subject);
    if (stat) return;
    this.#createParents(parentPath(path), subject, by);
    this.#append({ kind: 'create', path, data: Buffer.alloc(0), owner: undefined }, by);
  }

  #assertVersion(path: string, version: number, subject: OperationSubject) {
    const stat = this.#tree.stat(path);
    if (!stat) throw new NoNodeError(subject);
    if (version !== ANY_VERSION && version !== stat.version) throw new BadVersionError(subject);
    return stat;
  }

  #append(change: Change, by: string | undefined): void {
    const id = ++this.#committedId;
    this.#tree.apply(change, BigInt(id), () => {});
    for (const server of this.servers) server.replicate({ id, change });
    if (this.#commits.observed) this.#commits.next({ id, change, by });
  }

  #attachWaiting(): void {
    this.#someoneWaits = false;
    for (const registry of this.registries) registry.link.tryAttach();
  }

  /** Without any server nobody counts the time; the next one to lead gives every session all of it again. */
  #reviewExpiry(session: ClusterSession, isCounting: boolean): void {
    const { isHeard } = session.link;
    if (!isHeard) session.link.disturb();
    if (isHeard || !isCounting) {
      session.expiry?.cancel();
      session.expiry = undefined;
    } else if (!session.expiry) {
      session.expiry = this.clock.setTimer(() => this.endSession(session.id), session.timeout);
    }
  }
}

function assertTimeout(name: string, value: number): void {
  if (!(Number.isFinite(value) && value > 0)) {
    throw new InvalidArgumentError(
      `${name}: ${String(value)} is not a positive number of milliseconds`,
    );
  }
}
