import type { Observable } from 'rxjs';
import type { Environment } from '../environment.js';
import { LiveViews, type WatchEvent } from '../live-views.js';
import { assertPath } from '../node-path.js';
import {
  assertData,
  assertDeletable,
  assertTimeout,
  assertVersion,
} from '../operation-arguments.js';
import { Operations } from '../operations.js';
import type {
  CreateOptions,
  NodeSnapshot,
  NodeStat,
  OperationOptions,
  Registry,
  Session,
} from '../registry.js';
import {
  type OperationSubject,
  RegistryClosedError,
  UnreachableError,
} from '../registry.errors.js';
import { SessionStream } from '../session-stream.js';
import { waitUntilConnected } from '../session-waiting.js';
import { type LinkListener, type LinkTarget, MemoryLink } from './memory-link.js';
import type { Command, Read } from './memory-request.js';

const ENDLESS: OperationOptions = { timeout: Infinity };

/** The cluster that a registry is a client of. */
export interface RegistryHome extends LinkTarget {
  readonly timed: boolean;
  readonly registries: Set<MemoryRegistry>;
}

/** A client of a `MemoryCluster`. Its `link` takes the faults. @publicApi */
export class MemoryRegistry implements Registry, LinkListener {
  readonly label: string;
  readonly link: MemoryLink;
  readonly #operations: Operations;
  readonly #views: LiveViews;
  readonly #session: SessionStream;
  readonly #environment: Environment;
  readonly #timeout: number;

  constructor(
    private readonly cluster: RegistryHome,
    options: { label: string; sessionTimeout: number; environment: Environment },
  ) {
    this.label = options.label;
    this.#environment = options.environment;
    this.#timeout = options.sessionTimeout;
    this.#session = new SessionStream({
      state: 'connecting',
      id: undefined,
      timeout: this.#timeout,
      timed: cluster.timed,
    });
    this.#operations = new Operations(this.#environment.clock, () => this.#timeout);
    this.#views = new LiveViews({
      get: (path) => this.#read('get', path, true, ENDLESS),
      children: (path) => this.#read('children', path, true, ENDLESS),
      exists: (path) => this.#read('exists', path, true, ENDLESS),
      sync: (path) => this.sync(path, ENDLESS),
    });
    this.link = new MemoryLink(cluster, this.#timeout, this);
  }

  get session(): Session {
    return this.#session.current;
  }

  get session$(): Observable<Session> {
    return this.#session.changes$;
  }

  /** How many live views are subscribed to. */
  get viewCount(): number {
    return this.#views.size;
  }

  async connect(options: Omit<OperationOptions, 'session'> = {}): Promise<void> {
    const subject = { operation: 'connect', path: '/' };
    if (this.session.state === 'closed') throw new RegistryClosedError(subject, false);
    const { timeout = this.#timeout } = options;
    assertTimeout('connect()', timeout);
    this.cluster.registries.add(this);
    this.link.open();
    await waitUntilConnected(
      this,
      this.#environment.clock,
      { ...options, timeout },
      () => new UnreachableError(`the memory cluster let nobody connect within ${timeout} ms`),
    );
  }

  async close(): Promise<void> {
    if (this.session.state === 'closed') return;
    this.link.close();
    this.cluster.registries.delete(this);
    this.#operations.closed();
    this.#views.complete();
    this.#session.close();
  }

  reconnect(): void {
    this.link.reconnect();
  }

  create(path: string, data: Buffer, options: CreateOptions = {}): Promise<string> {
    const { mode = 'persistent', parents = false } = options;
    return this.#request({ kind: 'create', path, data: copyOf(data), mode, parents }, options);
  }

  get(path: string, options: OperationOptions = {}): Promise<NodeSnapshot> {
    return this.#read('get', path, false, options);
  }

  set(
    path: string,
    data: Buffer,
    version: number,
    options: OperationOptions = {},
  ): Promise<NodeStat> {
    return this.#request({ kind: 'set', path, data: copyOf(data), version }, options);
  }

  delete(path: string, version: number, options: OperationOptions = {}): Promise<void> {
    return this.#request({ kind: 'delete', path, version }, options);
  }

  children(path: string, options: OperationOptions = {}): Promise<readonly string[]> {
    return this.#read('children', path, false, options);
  }

  exists(path: string, options: OperationOptions = {}): Promise<NodeStat | undefined> {
    return this.#read('exists', path, false, options);
  }

  sync(path: string, options: OperationOptions = {}): Promise<void> {
    return this.#request({ kind: 'sync', path }, options);
  }

  watch(path: string): Observable<NodeSnapshot | undefined> {
    assertPath(path);
    return this.#views.node(path);
  }

  watchChildren(path: string): Observable<readonly string[] | undefined> {
    assertPath(path);
    return this.#views.children(path);
  }

  // What the link tells

  attached(session: string): void {
    const isNew = session !== this.session.id;
    // Before the news of it, so that who hears them can use the session at once.
    this.#operations.connected(session);
    this.#session.next({ state: 'connected', id: session });
    this.#views.reconnected(isNew);
  }

  notified(path: string, event: WatchEvent): void {
    this.#views.notify(path, event);
  }

  broken(): void {
    this.#operations.disconnected();
    if (this.session.state === 'connected') this.#session.next({ state: 'suspended' });
  }

  expired(): void {
    this.link.forgetSession();
    this.#operations.sessionLost();
    this.#session.next({ state: 'lost' });
    this.#session.next({ state: 'connecting', id: undefined });
    this.link.tryAttach();
  }

  disturbed(): void {
    if (!this.session.timed) this.#session.next({ timed: true });
  }

  crashed(): void {
    this.cluster.registries.delete(this);
  }

  setTimer(callback: () => void, delay: number) {
    return this.#environment.clock.setTimer(callback, delay);
  }

  #read<T>(kind: Read['kind'], path: string, watch: boolean, options: OperationOptions) {
    return this.#request<T>({ kind, path, watch }, options);
  }

  #request<T>(command: Command, options: OperationOptions): Promise<T> {
    const subject = { operation: command.kind, path: command.path };
    try {
      assertCommand(command, subject);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#operations.run<T>(subject, options, (answer) =>
      this.link.send({ subject, command, answer }),
    );
  }
}

/** What is stored must not change when the caller goes on with the buffer. */
function copyOf(data: Buffer): Buffer {
  return Buffer.isBuffer(data) ? Buffer.from(data) : data;
}

function assertCommand(command: Command, subject: OperationSubject): void {
  assertPath(command.path);
  if ('data' in command) assertData(subject, command.data);
  if ('version' in command) assertVersion(subject, command.version);
  if (command.kind === 'delete') assertDeletable(subject);
}
