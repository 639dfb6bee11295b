/** A member as a strategy sees it. @publicApi */
export interface StrategyMember {
  readonly id: string;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** All that a strategy may look at. @publicApi */
export interface StrategyInput {
  /** Those that may hold shards, sorted by id. Never empty. */
  readonly members: readonly StrategyMember[];
  readonly total: number;
  /** For each item the index of the member that has it now, or -1. */
  readonly current: Int32Array;
}

/**
 * Decides who is to hold what: for each item the index of a member. A pure function: the same input
 * gives the same result on every instance, since any of them may lead. @publicApi
 */
export type ShardingStrategy = (input: StrategyInput) => ArrayLike<number>;
