import { BehaviorSubject, type Observable } from 'rxjs';
import type { Environment } from '../environment.js';
import { LiveViews, type WatchEvent } from '../live-views.js';
import { assertPath, parentPath } from '../node-path.js';
import {
  assertData,
  assertDeletable,
  assertTimeout,
  assertVersion,
} from '../operation-arguments.js';
import { Operations } from '../operations.js';
import {
  type CreateOptions,
  type NodeSnapshot,
  type NodeStat,
  type OperationOptions,
  type Registry,
  type Session,
} from '../registry.js';
import {
  NoAuthError,
  OperationFailedError,
  type OperationSubject,
  RegistryClosedError,
  type RegistryError,
  UnreachableError,
} from '../registry.errors.js';
import { SessionStream } from '../session-stream.js';
import { waitUntilConnected } from '../session-waiting.js';
import { Chroot } from './chroot.js';
import type { Connection } from './connection.js';
import { NodeCreation, StillOpenError } from './node-creation.js';
import { type Lookup, ServerAddresses } from './server-addresses.js';
import { SessionKeeper } from './session-keeper.js';
import type { ZooKeeperCalls } from './zookeeper-calls.js';
import { type ClientFactory, loadClientFactory } from './zookeeper-client.js';
import { RequestFailure, toRegistryError } from './zookeeper-errors.js';
import { type CheckedOptions, checkOptions, type ZooKeeperOptions } from './zookeeper-options.js';

const CONNECT: OperationSubject = { operation: 'connect', path: '/' };

const ENDLESS: OperationOptions = { timeout: Infinity };

/** What to do where the chroot of the connect string does not exist. */
export type MissingChroot =
  /** Create it: whoever works there needs it. */
  | 'create'
  /** Wait for somebody to create it: whoever only looks may write nothing, and may be first. */
  | 'await'
  /** Say so at once. */
  | 'refuse';

export interface ZooKeeperRegistryOptions extends ZooKeeperOptions {
  /** Asked whenever there is none, since who shares the registry can change. @default 'create' */
  readonly missingChroot?: () => MissingChroot;
}

/** What a test may replace. */
export interface ZooKeeperSeams {
  readonly loadClient?: () => Promise<ClientFactory>;
  readonly lookup?: Lookup;
}

/** The registry on a ZooKeeper ensemble. Bad options throw here; nothing connects before `connect()`. */
export class ZooKeeperRegistry implements Registry {
  readonly #options: CheckedOptions;
  readonly #chroot: Chroot;
  readonly #addresses: ServerAddresses;
  readonly #keeper: SessionKeeper;
  readonly #creation: NodeCreation;
  readonly #operations: Operations;
  readonly #views: LiveViews;
  readonly #session: SessionStream;
  readonly #missingChroot: () => MissingChroot;
  /** Why waiting for a connection is in vain, as far as is known. */
  readonly #obstacle = new BehaviorSubject<RegistryError | undefined>(undefined);
  /** Those of the current connection. */
  #calls: ZooKeeperCalls | undefined;
  #hasChroot: boolean;
  #closing: Promise<void> | undefined;
  /** Looks for the chroot again, while it is missing and not ours to create. */
  #lookAgain: (() => void) | undefined;

  constructor(
    options: ZooKeeperRegistryOptions,
    private readonly environment: Environment,
    { loadClient = loadClientFactory, lookup }: ZooKeeperSeams = {},
  ) {
    this.#options = checkOptions(options);
    const { servers, chroot, sessionTimeout, credentials } = this.#options;
    this.#chroot = new Chroot(chroot);
    this.#hasChroot = chroot === '';
    this.#missingChroot = options.missingChroot ?? (() => 'create');
    this.#creation = new NodeCreation(credentials !== undefined, environment.log);
    this.#addresses = new ServerAddresses(servers, environment, lookup);
    this.#keeper = new SessionKeeper(this.#options, this.#addresses, environment, loadClient, {
      connected: (connection) => void this.#connected(connection),
      suspended: () => this.#suspended(),
      expired: () => this.#expired(),
      refused: (address) => this.#refused(address),
      notified: (path, event) => this.#notified(path, event),
    });
    this.#session = new SessionStream({
      state: 'connecting',
      id: undefined,
      timeout: sessionTimeout,
      timed: true,
    });
    this.#operations = new Operations(environment.clock, () => this.session.timeout);
    this.#views = new LiveViews({
      get: (path) => this.#get(path, true, ENDLESS),
      children: (path) => this.#children(path, true, ENDLESS),
      exists: (path) => this.#exists(path, true, ENDLESS),
      sync: (path) => this.sync(path, ENDLESS),
    });
  }

  get session(): Session {
    return this.#session.current;
  }

  get session$(): Observable<Session> {
    return this.#session.changes$;
  }

  async connect(options: Omit<OperationOptions, 'session'> = {}): Promise<void> {
    if (this.#closing) throw new RegistryClosedError(CONNECT, false);
    const { timeout = this.#options.connectTimeout } = options;
    assertTimeout('connect()', timeout);
    await this.#keeper.start();
    this.#lookAgain?.();
    await waitUntilConnected(
      this,
      this.environment.clock,
      { ...options, timeout },
      () => (this.#lookAgain ? this.#noChroot() : this.#unreachable(timeout)),
      this.#obstacle,
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  reconnect(): void {
    this.#keeper.reconnect();
  }

  async create(path: string, data: Buffer, options: CreateOptions = {}): Promise<string> {
    const { mode = 'persistent', parents = false } = options;
    assertPath(path);
    assertData({ operation: 'create', path }, data);
    // It may wait for a connection, and the caller goes on with the buffer.
    const copy = Buffer.from(data);
    const created = await this.#request('create', path, options, (calls, target) =>
      this.#creation.create(calls, target, copy, mode, parents),
    );
    return this.#chroot.strip(created);
  }

  get(path: string, options: OperationOptions = {}): Promise<NodeSnapshot> {
    return this.#get(path, false, options);
  }

  async set(
    path: string,
    data: Buffer,
    version: number,
    options: OperationOptions = {},
  ): Promise<NodeStat> {
    const subject = { operation: 'set', path };
    assertPath(path);
    assertData(subject, data);
    assertVersion(subject, version);
    const copy = Buffer.from(data);
    return this.#request('set', path, options, (calls, target) => calls.set(target, copy, version));
  }

  async delete(path: string, version: number, options: OperationOptions = {}): Promise<void> {
    const subject = { operation: 'delete', path };
    assertPath(path);
    assertVersion(subject, version);
    assertDeletable(subject);
    return this.#request('delete', path, options, (calls, target) => calls.delete(target, version));
  }

  children(path: string, options: OperationOptions = {}): Promise<readonly string[]> {
    return this.#children(path, false, options);
  }

  exists(path: string, options: OperationOptions = {}): Promise<NodeStat | undefined> {
    return this.#exists(path, false, options);
  }

  sync(path: string, options: OperationOptions = {}): Promise<void> {
    return this.#request('sync', path, options, (calls, target) => calls.sync(target));
  }

  watch(path: string): Observable<NodeSnapshot | undefined> {
    assertPath(path);
    return this.#views.node(path);
  }

  watchChildren(path: string): Observable<readonly string[] | undefined> {
    assertPath(path);
    return this.#views.children(path);
  }

  #get(path: string, watch: boolean, options: OperationOptions): Promise<NodeSnapshot> {
    return this.#request('get', path, options, (calls, target) => calls.get(target, watch));
  }

  #children(path: string, watch: boolean, options: OperationOptions): Promise<readonly string[]> {
    return this.#request('children', path, options, (calls, target) =>
      calls.children(target, watch),
    );
  }

  #exists(path: string, watch: boolean, options: OperationOptions): Promise<NodeStat | undefined> {
    return this.#request('exists', path, options, (calls, target) => calls.exists(target, watch));
  }

  async #request<T>(
    operation: string,
    path: string,
    options: OperationOptions,
    send: (calls: ZooKeeperCalls, target: string) => Promise<T>,
  ): Promise<T> {
    assertPath(path);
    const subject = { operation, path };
    return this.#operations.run<T>(subject, options, (answer) => {
      // Operations are sent between `connected` and `disconnected`, when there are calls.
      send(this.#calls as ZooKeeperCalls, this.#chroot.add(path)).then(
        (value) => answer.resolve(value),
        (error: unknown) => answer.reject(explained(error, subject)),
      );
    });
  }

  async #close(): Promise<void> {
    this.#calls = undefined;
    this.#operations.closed();
    this.#views.complete();
    this.#session.close();
    await this.#keeper.stop();
  }

  // What the keeper tells

  async #connected(connection: Connection): Promise<void> {
    const {
      calls,
      session: { id },
      timeout,
    } = connection;
    this.#calls = calls;
    this.#lookAgain = undefined;
    // A fresh native client does not know what the one before it has read, and might find a server that
    // lags behind: with this first in line, nothing that follows goes back in time.
    calls.sync('/').catch(() => {});
    const isThere = this.#hasChroot || (await this.#ensureChroot(calls));
    if (this.#calls !== calls) return;
    if (!isThere) return this.#awaitChroot(connection);

    this.#obstacle.next(undefined);
    const isNewSession = id !== this.session.id;
    this.#operations.connected(id);
    // What had waited was sent just now, and that may have found the connection broken.
    if (this.#calls !== calls) return;
    this.#session.next({ state: 'connected', id, timeout });
    this.#views.reconnected(isNewSession);
    await this.#creation.closeLeftovers(calls);
  }

  #suspended(): void {
    this.#calls = undefined;
    this.#lookAgain = undefined;
    this.#operations.disconnected();
    if (this.session.state === 'connected') this.#session.next({ state: 'suspended' });
  }

  #expired(): void {
    this.#calls = undefined;
    // Lost before it was told of: nobody has anything in it.
    if (this.session.id === undefined) return;
    this.#operations.sessionLost();
    this.#session.next({ state: 'lost' });
    this.#session.next({ state: 'connecting', id: undefined });
  }

  #refused(address: string): void {
    this.#obstacle.next(new NoAuthError(CONNECT, `ZooKeeper ${address}, which refuses them`));
  }

  #notified(path: string, event: WatchEvent): void {
    // Before there is a chroot, nothing else is watched.
    if (this.#lookAgain) return this.#lookAgain();
    this.#views.notify(this.#chroot.strip(path), event);
  }

  /**
   * Resolves to false where there is none that could be worked with. Only the chroot itself is closed to
   * strangers: what is above it belongs to others as well.
   */
  async #ensureChroot(calls: ZooKeeperCalls): Promise<boolean> {
    const { path } = this.#chroot;
    const { log } = this.environment;
    const isOurs = this.#missingChroot() === 'create';
    try {
      if (!(await calls.exists(path, !isOurs))) {
        if (!isOurs) return false;
        await new NodeCreation(false, log).ensure(calls, parentPath(path));
        await this.#creation.ensure(calls, path);
      }
      this.#hasChroot = true;
    } catch (error) {
      const { message } = explained(error, { operation: 'create', path });
      log.error(`the chroot of registry.connect could not be created: ${message}`);
    }
    return true;
  }

  /** The connection stands, and is not told of before the node's watch has fired. */
  #awaitChroot(connection: Connection): void {
    this.#lookAgain = () => void this.#connected(connection);
    if (this.#missingChroot() === 'refuse') this.#obstacle.next(this.#noChroot());
  }

  #noChroot(): UnreachableError {
    return new UnreachableError(
      `there is no chroot ${this.#chroot.path} on ${this.#addresses.describe()}; check registry.connect ` +
        'and that an instance of the group has been started there: it is the first one that creates it',
    );
  }

  #unreachable(timeout: number): UnreachableError {
    return new UnreachableError(
      `no ZooKeeper server answered within ${timeout} ms: ${this.#addresses.describe()}` +
        '; check registry.connect and that the servers run and can be reached from here. ' +
        'Trying goes on until close()',
    );
  }
}

function explained(error: unknown, subject: OperationSubject): RegistryError {
  if (error instanceof RequestFailure) return toRegistryError(error, subject);
  const reason = error instanceof StillOpenError ? error.message : String(error);
  return new OperationFailedError(subject, reason);
}
