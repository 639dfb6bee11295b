import type { Log } from '../environment.js';
import { childPath, nodeName, parentPath } from '../node-path.js';
import type { CreateMode } from '../registry.js';
import type { ZooKeeperCalls } from './zookeeper-calls.js';
import type { NativeAcl } from './zookeeper-client.js';
import { Code, failedWith, isRefusal } from './zookeeper-errors.js';

const EMPTY = Buffer.alloc(0);

/** Everything for those who have authenticated as we have, nothing for anybody else. */
const CREATOR_ALL: readonly NativeAcl[] = [{ perms: 31, scheme: 'auth', auth: '' }];

/** A node was created and stayed open to everybody although it should have been closed. */
export class StillOpenError extends Error {
  constructor(reason: string) {
    super(`created, but still open to strangers: ${reason}`);
  }
}

interface Opened {
  readonly path: string;
  readonly mode: CreateMode;
}

/**
 * Creates nodes, with their parents if need be, and closes each to strangers where there are credentials.
 * The native client creates every node open, so between its creation and the request that closes it (one
 * round trip) a stranger can read it, change it, or create nodes below it: that gap cannot be closed here.
 */
export class NodeCreation {
  /** Created, or perhaps created, and not known to be closed. */
  readonly #open = new Set<Opened>();
  #hasWarned = false;

  constructor(
    private readonly closes: boolean,
    private readonly log: Log,
  ) {}

  /** Resolves to the path of the node. Parents that exist are left as they are, open or not. */
  async create(
    calls: ZooKeeperCalls,
    path: string,
    data: Buffer,
    mode: CreateMode,
    parents: boolean,
  ): Promise<string> {
    try {
      return await this.#createOne(calls, path, data, mode);
    } catch (error) {
      // Hoping for the parents first: they are missing once in a node's life, asking costs every time.
      if (!parents || !failedWith(error, Code.NO_NODE)) throw error;
    }
    await this.ensure(calls, parentPath(path));
    return this.#createOne(calls, path, data, mode);
  }

  /** Creates a persistent, empty node and those above it that are missing. */
  async ensure(calls: ZooKeeperCalls, path: string): Promise<void> {
    try {
      await this.create(calls, path, EMPTY, 'persistent', path !== '/');
    } catch (error) {
      if (!failedWith(error, Code.NODE_EXISTS)) throw error;
    }
  }

  /** After a reconnect: closes what a lost connection has left open. */
  async closeLeftovers(calls: ZooKeeperCalls): Promise<void> {
    for (const opened of [...this.#open]) {
      try {
        for (const path of await candidates(calls, opened)) {
          if (isOpen(await calls.getAcl(path))) await close(calls, path);
        }
        this.#open.delete(opened);
      } catch (error) {
        if (!isRefusal(error) && !(error instanceof StillOpenError)) return;
        this.#open.delete(opened);
        if (failedWith(error, Code.NO_NODE)) continue;
        this.log.warn(`${opened.path} may be open to everybody: ${(error as Error).message}`);
      }
    }
  }

  async #createOne(
    calls: ZooKeeperCalls,
    path: string,
    data: Buffer,
    mode: CreateMode,
  ): Promise<string> {
    if (!this.closes) return calls.create(path, data, mode);
    this.#warnOnce();
    const opened = { path, mode };
    this.#open.add(opened);
    try {
      const created = await calls.create(path, data, mode);
      await close(calls, created);
      this.#open.delete(opened);
      return created;
    } catch (error) {
      if (isRefusal(error)) this.#open.delete(opened);
      throw error;
    }
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.log.warn(
      'registry.auth: the ZooKeeper client cannot create a node closed to strangers, so each is open for ' +
        'one round trip, until it is closed; where that is too long, keep strangers off the network',
    );
  }
}

/** Both requests leave together; the second one proves that the first one did what it should. */
async function close(calls: ZooKeeperCalls, path: string): Promise<void> {
  try {
    const [, acl] = await Promise.all([calls.setAcl(path, CREATOR_ALL), calls.getAcl(path)]);
    if (isOpen(acl)) throw new StillOpenError('its ACL did not change');
  } catch (error) {
    // Deleted meanwhile: what is gone is not open.
    if (failedWith(error, Code.NO_NODE)) return;
    throw isRefusal(error) ? new StillOpenError((error as Error).message) : error;
  }
}

function isOpen(acl: readonly NativeAcl[]): boolean {
  return acl.length === 0 || acl.some(({ scheme }) => scheme === 'world');
}

/** The nodes that a creation may have left: of a sequential one only the beginning of the name is known. */
async function candidates(
  calls: ZooKeeperCalls,
  { path, mode }: Opened,
): Promise<readonly string[]> {
  if (mode !== 'ephemeral-sequential') return [path];
  const parent = parentPath(path);
  const names = await calls.children(parent, false);
  return names
    .filter((name) => name.startsWith(nodeName(path)))
    .map((name) => childPath(parent, name));
}
