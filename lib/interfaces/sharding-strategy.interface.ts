/** A member as a strategy sees it. @publicApi */
export interface StrategyMember {
  readonly id: string;
  /** How much it can carry compared with the others: finite and greater than 0. */
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** What an item asks of the member that holds it. What is left out is not asked for. @publicApi */
export interface Demand {
  /** Only this member will do: a pin. */
  readonly id?: string;
  /** All of these labels, with just these values. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** All that a strategy may look at. @publicApi */
export interface StrategyInput {
  /** Those that may hold shards, sorted by id. Never empty. */
  readonly members: readonly StrategyMember[];
  /** How many items there are to give. */
  readonly total: number;
  /** For each item the index of the member that has it now, or -1. */
  readonly current: Int32Array;
  /**
   * How heavy each item is: finite and greater than 0.
   * @default all weigh 1
   */
  readonly itemWeights?: Float64Array;
  /**
   * What items may ask for; `demandOf` says which item asks for which.
   * @default none
   */
  readonly demands?: readonly Demand[];
  /**
   * For each item the index of its demand, or -1 where any member will do.
   * @default any member will do for all of them
   */
  readonly demandOf?: Int32Array;
  /**
   * The key of a label, such as `zone`, over whose values the items are to be spread before they are
   * spread within each: a zone's share is that of its members together. Members without the label
   * form a zone of their own.
   * @default no such label
   */
  readonly spreadOver?: string;
  /**
   * The namespace of the group, for strategies that hash the name of the job.
   * @default ''
   */
  readonly name?: string;
}

/**
 * Decides who is to hold what: for each item the index of a member, or -1 if no member satisfies its
 * demand. A pure function: the same input gives the same result on every instance, since any of them
 * may lead. @publicApi
 */
export type ShardingStrategy = (input: StrategyInput) => ArrayLike<number>;
