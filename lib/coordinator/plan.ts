/**
 * The plan: who holds what, in one document that is only ever replaced as a whole, by
 * compare-and-set. Its epoch grows with every write and is the token of what that write grants.
 */
export interface Plan {
  readonly epoch: number;
  /** Unique to one attempt to write, so that a write whose answer got lost is recognised. */
  readonly nonce: string;
  readonly office: Office;
  readonly total: number;
  /** Where the total is going: differs from `total` while everyone lets go for a change of it. */
  readonly nextTotal: number;
  /** No revocations, no dead holders, and every item that can be owned is. */
  readonly settled: boolean;
  readonly members: readonly PlanMember[];
  /** For each item the index of its holder in `members`, or -1. */
  readonly owners: Int32Array;
  /** For each item the epoch that granted it to its holder, or 0. */
  readonly tokens: Float64Array;
  /** For each item the epoch that began to take it away from its holder, or 0. */
  readonly marks: Float64Array;
}

/** A member is its registration: the same id back again is another incarnation, beside the old one. */
export interface PlanMember {
  readonly id: string;
  readonly incarnation: string;
  /** For how long its lease may outlive its node, in milliseconds. */
  readonly lease: number;
  readonly address?: string | undefined;
}

/** Who led when this was written. */
export interface Office {
  readonly id: string;
  readonly incarnation: string;
  /** For how long its word may outlive its latch node; 0 once it has resigned. */
  readonly lease: number;
  /** The epoch of the plan write that took office. */
  readonly term: number;
  /**
   * The lease of an earlier leader that had not been waited out when this was written: nobody may
   * call itself leader before that, even if the present one resigns meanwhile.
   */
  readonly owed: number;
}

/** The index of a registration in the plan, or -1: then the plan does not know it. */
export function memberIndex(plan: Plan, incarnation: string): number {
  return plan.members.findIndex((member) => member.incarnation === incarnation);
}

/** Everything that a plan says about one member. */
export interface MemberShare {
  /** What it may hold: token by item. */
  readonly granted: ReadonlyMap<number, number>;
  /** What is being taken from it: mark by item. */
  readonly revoked: ReadonlyMap<number, number>;
}

export function shareOf(plan: Plan, incarnation: string): MemberShare | undefined {
  const index = memberIndex(plan, incarnation);
  if (index < 0) return undefined;
  const granted = new Map<number, number>();
  const revoked = new Map<number, number>();
  for (let item = 0; item < plan.total; item++) {
    if (plan.owners[item] !== index) continue;
    if (plan.marks[item] === 0) granted.set(item, plan.tokens[item]!);
    else revoked.set(item, plan.marks[item]!);
  }
  return { granted, revoked };
}
