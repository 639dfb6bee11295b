import type { Observable } from 'rxjs';

/**
 * - `connecting`: no session yet;
 * - `connected`: a server answers; this alone does not prove that the session still lives;
 * - `suspended`: the connection broke, the session may live on;
 * - `lost`: the store says that the session ended, its ephemeral nodes are gone; a new session
 *   follows by itself (`connecting`, then `connected` with another id);
 * - `closed`: by our own word, for good.
 * @publicApi
 */
export type SessionState = 'connecting' | 'connected' | 'suspended' | 'lost' | 'closed';

/** @publicApi */
export interface Session {
  readonly state: SessionState;
  /** The store's id of the session; undefined while there is none. Never used twice. */
  readonly id: string | undefined;
  /** The negotiated timeout in milliseconds: after so long without contact the store ends the session. */
  readonly timeout: number;
  /**
   * False where time alone never ends a session (an undisturbed memory registry), so that a debugger
   * or a faked clock in a user's test does not cost it its shards.
   */
  readonly timed: boolean;
}

/** What the store knows of a node besides its data. @publicApi */
export interface NodeStat {
  /** Grows with every creation in the whole store: tells two nodes of the same path apart. */
  readonly createdId: bigint;
  /** Grows with every write in the whole store. */
  readonly modifiedId: bigint;
  /** Counts the writes of this node's data, from 0. */
  readonly version: number;
  /** The session that an ephemeral node lives and dies with; undefined for a persistent node. */
  readonly owner: string | undefined;
  readonly childCount: number;
  /** Counts the children ever created and deleted: equal to `childCount` while none was deleted. */
  readonly childChanges: number;
}

/** @publicApi */
export interface NodeSnapshot {
  readonly data: Buffer;
  readonly stat: NodeStat;
}

/** A version that matches every version. @publicApi */
export const ANY_VERSION = -1;

/** @publicApi */
export interface OperationOptions {
  /** Milliseconds until the operation is given up with `TimedOutError`. @default the session timeout */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Refuse with `SessionLostError`, sending nothing, unless this is the current session. */
  readonly session?: string | undefined;
}

/** @publicApi */
export type CreateMode = 'persistent' | 'ephemeral' | 'ephemeral-sequential';

/** @publicApi */
export interface CreateOptions extends OperationOptions {
  /** @default 'persistent' */
  readonly mode?: CreateMode;
  /** Create missing parents as persistent, empty nodes. @default false */
  readonly parents?: boolean;
}

/**
 * What the protocol needs from a coordination store, in the store's own honest terms: reads may be
 * stale until `sync`, a write's answer may get lost, a session may be over before its owner hears of it.
 *
 * Operations of one session take effect and are answered in the order in which they were called. An
 * operation belongs to the session that is current when it is called; called while no server is
 * reachable it waits within its timeout, and fails with `SessionLostError` when the session is lost.
 * @publicApi
 */
export interface Registry {
  readonly session: Session;
  /** The current state first, then every change; completes on close. */
  readonly session$: Observable<Session>;

  /**
   * Starts connecting (the first call) and resolves once connected. Rejects with `UnreachableError`
   * when `timeout` has passed; trying goes on until `close()`, so a caller may wait again.
   */
  connect(options?: Omit<OperationOptions, 'session'>): Promise<void>;
  /** Ends the session in good order: its ephemeral nodes vanish at once, everything pending rejects. */
  close(): Promise<void>;
  /**
   * Drops the connection and tries another server, keeping the session; what is pending ends with
   * `ConnectionLostError`. Does nothing where the client has no means to do it.
   */
  reconnect(): void;

  /** Resolves to the path created, which for a sequential node differs from the path asked for. */
  create(path: string, data: Buffer, options?: CreateOptions): Promise<string>;
  get(path: string, options?: OperationOptions): Promise<NodeSnapshot>;
  /** Replaces the data if the node still has this version. */
  set(path: string, data: Buffer, version: number, options?: OperationOptions): Promise<NodeStat>;
  /** Deletes the node if it still has this version and no children. */
  delete(path: string, version: number, options?: OperationOptions): Promise<void>;
  /** The names of the children, sorted. */
  children(path: string, options?: OperationOptions): Promise<readonly string[]>;
  exists(path: string, options?: OperationOptions): Promise<NodeStat | undefined>;
  /** Once resolved, later reads of this session see every write committed before the call. */
  sync(path: string, options?: OperationOptions): Promise<void>;

  /**
   * The node now, then after each change; undefined while it does not exist. Intermediate values may
   * be skipped, the last one never; what was missed while disconnected is caught up; an unchanged node
   * is not emitted twice. Completes on close, errors only where access is denied.
   */
  watch(path: string): Observable<NodeSnapshot | undefined>;
  /** The sorted names of the children in the same manner; undefined while the node does not exist. */
  watchChildren(path: string): Observable<readonly string[] | undefined>;
}
