import type { Environment } from './environment.js';
import { childPath, nodeName } from './node-path.js';
import {
  ANY_VERSION,
  type CreateOptions,
  type NodeStat,
  type OperationOptions,
  type Registry,
} from './registry.js';
import {
  BadVersionError,
  InvalidArgumentError,
  NodeExistsError,
  registryErrorCode,
  TimedOutError,
  type OperationSubject,
} from './registry.errors.js';

/**
 * Writes whose lost answers are resolved by looking. What was written has to be recognisable: data
 * handed to `create` and `set` must be unique to the attempt (carry a nonce); a sequential name
 * gets a GUID of its own.
 *
 * Looking is reliable because it starts with `sync`: the store orders one session's requests, and
 * refuses those that an earlier connection of it still had under way, so once the `sync` is answered
 * the write has happened or never will.
 */
export class SureWrites {
  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
  ) {}

  /** Creates a node, or finds that an attempt of ours with the same data has created it. */
  async create(
    path: string,
    data: Buffer,
    options: Omit<CreateOptions, 'mode'> & { mode?: 'persistent' | 'ephemeral' } = {},
  ): Promise<void> {
    const subject = { operation: 'create', path };
    await this.#untilKnown(subject, options, async (attempt, isRetry) => {
      if (isRetry) {
        const node = await this.#find(path, attempt);
        if (node) {
          const session = this.registry.session.id;
          const isOurs =
            node.data.equals(data) && (options.mode !== 'ephemeral' || node.stat.owner === session);
          if (isOurs) return;
          throw new NodeExistsError(subject);
        }
      }
      await this.registry.create(path, data, { ...options, ...attempt });
    });
  }

  /**
   * Creates an ephemeral sequential node `prefix…` below `parent` and resolves to its path. The name
   * starts with a GUID, so sort by the ten digits at its end, never by the whole name.
   */
  async createSequential(
    parent: string,
    prefix: string,
    data: Buffer,
    options: Omit<CreateOptions, 'mode'> = {},
  ): Promise<string> {
    const name = `${this.environment.random.uuid()}-${prefix}`;
    const path = childPath(parent, name);
    return this.#untilKnown({ operation: 'create', path }, options, async (attempt, isRetry) => {
      if (isRetry) {
        await this.registry.sync(parent, attempt);
        const names = await this.registry.children(parent, attempt).catch((error: unknown) => {
          if (registryErrorCode(error) === 'NO_NODE') return [];
          throw error;
        });
        const found = names.find((candidate) => candidate.startsWith(name));
        if (found !== undefined) return childPath(parent, found);
      }
      return this.registry.create(path, data, {
        ...options,
        ...attempt,
        mode: 'ephemeral-sequential',
      });
    });
  }

  /**
   * Replaces the data of a node that has `version`. Fails with `BadVersionError` when the node has
   * moved on, be it after our write: either way the caller has to read again.
   */
  async set(
    path: string,
    data: Buffer,
    version: number,
    options: OperationOptions = {},
  ): Promise<NodeStat> {
    const subject = { operation: 'set', path };
    if (version === ANY_VERSION) {
      throw new InvalidArgumentError(
        `set ${path}: a lost answer can only be resolved for a write that names the version it replaces`,
        subject,
      );
    }
    return this.#untilKnown(subject, options, async (attempt, isRetry) => {
      if (isRetry) {
        const node = await this.#find(path, attempt);
        if (node?.stat.version === version + 1 && node.data.equals(data)) return node.stat;
        if (node && node.stat.version !== version) throw new BadVersionError(subject);
      }
      return this.registry.set(path, data, version, attempt);
    });
  }

  /** Deletes the node that was created with `createdId`, at any version; one that is gone is fine. */
  async delete(path: string, createdId: bigint, options: OperationOptions = {}): Promise<void> {
    await this.#untilKnown({ operation: 'delete', path }, options, async (attempt, isRetry) => {
      if (isRetry) await this.registry.sync(path, attempt);
      const stat = await this.registry.exists(path, attempt);
      if (stat?.createdId !== createdId) return;
      try {
        await this.registry.delete(path, stat.version, attempt);
      } catch (error) {
        const code = registryErrorCode(error);
        if (code === 'BAD_VERSION') throw new RetryError();
        if (code !== 'NO_NODE') throw error;
      }
    });
  }

  async #find(path: string, options: OperationOptions) {
    await this.registry.sync(path, options);
    return this.registry.get(path, options).catch((error: unknown) => {
      if (registryErrorCode(error) === 'NO_NODE') return undefined;
      throw error;
    });
  }

  /**
   * Repeats `attempt` while its outcome is unknown and the deadline, signal and session allow it. Not a
   * busy loop: an operation called without a connection waits for one.
   */
  async #untilKnown<T>(
    subject: OperationSubject,
    options: OperationOptions,
    attempt: (options: OperationOptions, isRetry: boolean) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.environment;
    const budget = options.timeout ?? Infinity;
    const deadline = clock.monotonic() + budget;
    for (let isRetry = false; ; isRetry = true) {
      const left = deadline - clock.monotonic();
      if (left <= 0) throw new TimedOutError(subject, budget);
      try {
        return await attempt(
          {
            signal: options.signal,
            session: options.session,
            ...(left === Infinity ? {} : { timeout: left }),
          },
          isRetry,
        );
      } catch (error) {
        if (!(error instanceof RetryError) && !isWorthRepeating(error, options)) throw error;
      }
    }
  }
}

class RetryError extends Error {}

function isWorthRepeating(error: unknown, { session }: OperationOptions): boolean {
  switch (registryErrorCode(error)) {
    case 'CONNECTION_LOST':
    case 'TIMED_OUT':
      return true;
    case 'SESSION_LOST':
      // What is pinned to a session ends with it; the rest goes on in the next one.
      return session === undefined;
    default:
      return false;
  }
}

/** The number that the store gave to a sequential node: its last ten digits. */
export function sequenceOf(path: string): number {
  return Number(nodeName(path).slice(-10));
}
