import { isMainThread } from 'node:worker_threads';
import { ClientMissingError } from '../registry.errors.js';

/** The states of the native client that matter: it is at work on a connection, or has one. */
export const ClientState = { CONNECTING: 1, ASSOCIATING: 2, CONNECTED: 3 } as const;

/** Why the native client closed by itself. */
export const CloseCode = { EXPIRED: -112, AUTH_FAILED: -113 } as const;

export const CreateFlag = { PERSISTENT: 0, EPHEMERAL: 1, EPHEMERAL_SEQUENTIAL: 3 } as const;

export interface NativeStat {
  readonly czxid: number;
  readonly mzxid: number;
  readonly version: number;
  readonly cversion: number;
  /** Hexadecimal; `0` for a persistent node. */
  readonly ephemeralOwner: string;
  readonly numChildren: number;
}

export interface NativeAcl {
  readonly perms: number;
  readonly scheme: string;
  readonly auth: string;
}

/** The values are there only if `rc` is 0. */
export type Callback<T extends unknown[] = []> = (
  rc: number,
  message: string,
  ...values: T
) => void;

/** The requests that make up the traffic, by the names that the package gave them. */
export interface NativeRequests {
  a_create(path: string, data: Buffer, flags: number, callback: Callback<[path: string]>): number;
  a_exists(path: string, watch: boolean, callback: Callback<[stat: NativeStat]>): number;
  a_get(
    path: string,
    watch: boolean,
    callback: Callback<[stat: NativeStat, data: Buffer | null]>,
  ): number;
  a_get_children(path: string, watch: boolean, callback: Callback<[names: string[]]>): number;
  a_set(
    path: string,
    data: Buffer,
    version: number,
    callback: Callback<[stat: NativeStat]>,
  ): number;
  a_delete_(path: string, version: number, callback: Callback): number;
  a_sync(path: string, callback: Callback): number;
}

/**
 * What we use of the `zookeeper` package, typed here because it is an optional dependency that our
 * public types must not mention. A request that answers other than 0 was not sent: its callback
 * never comes. A callback must be a function of its own: the binding ties it to the client.
 */
export interface NativeClient extends NativeRequests {
  /**
   * What the package's own methods call, after describing each request for a log that nobody reads: that
   * takes longer than sending it.
   */
  readonly native?: NativeRequests;
  readonly state: number;
  readonly client_id: string;
  readonly client_password: string;
  readonly timeout: number;
  init(): unknown;
  close(): unknown;
  set_servers(servers: string): number;
  add_auth(scheme: string, auth: string, callback: Callback): number;
  a_get_acl(path: string, callback: Callback<[acl: NativeAcl[]]>): number;
  a_set_acl(path: string, version: number, acl: readonly NativeAcl[], callback: Callback): number;
  on(event: string, listener: (client: unknown, detail: never) => void): unknown;
  removeAllListeners(): unknown;
}

export interface ClientConfig {
  /** One numeric address with its port; an IPv6 address without brackets, as this client wants it. */
  readonly address: string;
  readonly sessionTimeout: number;
  /** The session to go on with; a new one if absent. */
  readonly session: SessionCredentials | undefined;
}

export interface SessionCredentials {
  readonly id: string;
  readonly password: string;
}

/** Makes a client that does nothing before its `init()`. */
export type ClientFactory = (config: ClientConfig) => NativeClient;

type ClientClass = new (config: Record<string, unknown>) => NativeClient;

/** Loads the native client on first use: an application on another registry never needs it. */
export async function loadClientFactory(
  load: () => Promise<unknown> = () => import('zookeeper'),
  inMainThread = isMainThread,
): Promise<ClientFactory> {
  if (!inMainThread) {
    throw new ClientMissingError(
      'the native ZooKeeper client works in the main thread only, and this is a worker thread: import the ' +
        'ShardingModule in the main thread, and hand the work to workers from there',
    );
  }
  let loaded: { default?: unknown };
  try {
    loaded = (await load()) as { default?: unknown };
  } catch (error) {
    throw missing(error);
  }
  const Client = (loaded.default ?? loaded) as ClientClass;
  return ({ address, sessionTimeout, session }) =>
    new Client({
      connect: address,
      timeout: sessionTimeout,
      // Its own log goes to stderr and would show data: 0 silences it.
      debug_level: 0,
      // Without this an answer that arrives in more than ten reads makes it give up its session.
      response_counter_limit: 2 ** 31 - 1,
      ...(session && { client_id: session.id, client_password: session.password }),
    });
}

function missing(cause: unknown): ClientMissingError {
  const { message = String(cause), code } = cause as Partial<NodeJS.ErrnoException>;
  const isAbsent =
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && /'zookeeper'/.test(message);
  const isUnbuilt = message.includes('No native build was found');
  const [firstLine] = message.split('\n');
  const problem = isAbsent
    ? 'is not installed: run `npm install zookeeper`'
    : isUnbuilt
      ? 'is installed but was not built: run `npm rebuild zookeeper`'
      : `cannot be loaded (${firstLine}): run \`npm rebuild zookeeper\``;
  const error = new ClientMissingError(
    `the ZooKeeper registry needs the package "zookeeper", which ${problem}. It is compiled on ` +
      'installation, which takes make, a C++ compiler and Python, and where npm does not run install ' +
      'scripts by itself the line "allowScripts": { "zookeeper": true } in your package.json',
  );
  error.cause = cause;
  return error;
}
