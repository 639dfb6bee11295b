import type { Shard } from './sharding-values.interface.js';

/** Decides whether, and how often, a guarded method runs. */
export interface ShardingGate {
  /** Runs the work if this instance leads, else does nothing. */
  asLeader(work: () => unknown): unknown;
  /** Runs the work once for each shard that is held; rejects when all have ended if any has failed. */
  perShard(
    label: string,
    work: (shard: Shard) => unknown,
    options: { readonly concurrency: number },
  ): Promise<void>;
}

/** What the explorer puts on each instance with guarded methods. */
export interface ShardingGates {
  /** The gate of a registration; undefined if there is none of that name. */
  gate(name: string | undefined): ShardingGate | undefined;
}
