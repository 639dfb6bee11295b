import type { CoordinatorHooks } from './coordinator/coordinator.types.js';
import type { HookKind } from './interfaces/sharding-metadata.interface.js';
import type {
  LeaderContext,
  Shard,
  ShardAssignment,
  ShardingStartedEvent,
  ShardReleasedEvent,
} from './interfaces/sharding-values.interface.js';
import type { Log } from './registry/environment.js';
import { hookFailed, reasonOf, stackOf } from './sharding.messages.js';

type HookArguments<K extends HookKind> = Parameters<CoordinatorHooks[K]>;

/** Someone who listens to one kind of hook. */
export interface HookListener<K extends HookKind> {
  /** `Class@method`. */
  readonly label: string;
  readonly decorator: string;
  run(...args: HookArguments<K>): unknown;
}

type Listeners = { readonly [K in HookKind]: HookListener<K>[] };

/** Passes what the coordinator tells on to all methods that listen, each guarded from the others. */
export class HookDispatcher implements CoordinatorHooks {
  readonly #listeners: Listeners = {
    leader: [],
    leaderLost: [],
    shardingStarted: [],
    shardingCompleted: [],
    shardAcquired: [],
    shardReleased: [],
  };

  constructor(private readonly log: Log) {}

  add<K extends HookKind>(kind: K, listener: HookListener<K>): void {
    (this.#listeners[kind] as HookListener<K>[]).push(listener);
  }

  leader(context: LeaderContext): Promise<void> {
    return this.#dispatch('leader', [context], context.signal);
  }

  leaderLost(): Promise<void> {
    return this.#dispatch('leaderLost', []);
  }

  shardingStarted(event: ShardingStartedEvent): Promise<void> {
    return this.#dispatch('shardingStarted', [event]);
  }

  shardingCompleted(assignment: ShardAssignment): Promise<void> {
    return this.#dispatch('shardingCompleted', [assignment]);
  }

  shardAcquired(shard: Shard): Promise<void> | undefined {
    if (this.#listeners.shardAcquired.length === 0) return undefined;
    return this.#dispatch('shardAcquired', [shard], shard.signal);
  }

  shardReleased(event: ShardReleasedEvent): Promise<void> | undefined {
    if (this.#listeners.shardReleased.length === 0) return undefined;
    return this.#dispatch('shardReleased', [event]);
  }

  async #dispatch<K extends HookKind>(
    kind: K,
    args: HookArguments<K>,
    signal?: AbortSignal,
  ): Promise<void> {
    const listeners = this.#listeners[kind] as readonly HookListener<K>[];
    await Promise.all(listeners.map((listener) => this.#run(listener, args, signal)));
  }

  async #run<K extends HookKind>(
    listener: HookListener<K>,
    args: HookArguments<K>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      await listener.run(...args);
    } catch (error) {
      // Timers, fetch and streams that were given the signal end this way: it is how a worker stops.
      if (signal?.aborted && isAbort(error, signal)) return;
      const { label, decorator } = listener;
      this.log.error(hookFailed(label, decorator, reasonOf(error)), stackOf(error));
    }
  }
}

function isAbort(error: unknown, { reason }: AbortSignal): boolean {
  const name = typeof error === 'object' && error && 'name' in error ? error.name : undefined;
  return error === reason || name === 'AbortError';
}
