import type { ShardingGate } from './interfaces/sharding-gate.interface.js';
import type { LeaderContext, Shard } from './interfaces/sharding-values.interface.js';
import type { ShardingCoordinator } from './sharding.coordinator.js';
import { perShardFailed, stackOf } from './sharding.messages.js';

/**
 * The gate of one registration. It remembers what is under way, so that neither a shard nor the
 * leadership is handed on while a call that began under it still runs.
 */
export class RegistrationGate implements ShardingGate {
  readonly #asLeader = new Set<Promise<unknown>>();
  readonly #perShard = new Map<number, Set<Promise<unknown>>>();

  constructor(
    private readonly coordinator: Pick<ShardingCoordinator, 'isLeader' | 'items' | 'shard'>,
  ) {}

  asLeader(work: () => unknown): unknown {
    // A promise, since nobody can tell whether the method would have given one.
    if (!this.coordinator.isLeader) return Promise.resolve();
    const result = work();
    if (isPromiseLike(result)) remember(this.#asLeader, Promise.resolve(result));
    return result;
  }

  async perShard(
    label: string,
    work: (shard: Shard) => unknown,
    { concurrency }: { readonly concurrency: number },
  ): Promise<void> {
    const shards = this.coordinator.items
      .map((item) => this.coordinator.shard(item))
      .filter((shard) => shard !== undefined);
    const failures = new Map<number, unknown>();
    const queue = shards.values();
    const lane = async (): Promise<void> => {
      for (const shard of queue) {
        await this.#workOn(shard, work).catch((error: unknown) => failures.set(shard.item, error));
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, shards.length) }, lane));
    if (failures.size > 0) throw failureOf(label, failures);
  }

  /** Resolves when the leadership has ended and no call that began under it still runs. */
  async leaderIdle({ signal }: LeaderContext): Promise<void> {
    await aborted(signal);
    await Promise.allSettled(this.#asLeader);
  }

  /** Resolves when the shard has to be let go and no call that began under it still runs. */
  async shardIdle({ item, signal }: Shard): Promise<void> {
    await aborted(signal);
    const calls = this.#perShard.get(item);
    if (calls) await Promise.allSettled(calls);
  }

  async #workOn(shard: Shard, work: (shard: Shard) => unknown): Promise<void> {
    // Others had their turn first, and meanwhile it may have been lost.
    if (shard.signal.aborted || !shard.valid) return;
    const { item } = shard;
    const calls = this.#perShard.get(item) ?? new Set();
    const call = Promise.resolve(work(shard));
    this.#perShard.set(item, calls.add(call));
    try {
      await call;
    } finally {
      calls.delete(call);
      if (calls.size === 0) this.#perShard.delete(item);
    }
  }
}

function remember(calls: Set<Promise<unknown>>, call: Promise<unknown>): void {
  const forget = (): void => void calls.delete(call);
  calls.add(call);
  call.then(forget, forget);
}

/** One failure is passed on as it is; several together, none of their stacks lost. */
function failureOf(label: string, failures: ReadonlyMap<number, unknown>): unknown {
  const errors = [...failures.values()];
  if (errors.length === 1) return errors[0];
  const failure = new AggregateError(errors, perShardFailed(label, failures));
  const stacks = [...failures].map(([item, error]) => `shard ${item}: ${stackOf(error) ?? ''}`);
  failure.stack = [failure.stack, ...stacks].join('\n');
  return failure;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
