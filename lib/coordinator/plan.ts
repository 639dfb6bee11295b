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
  /** Instances that went and may come back: what was theirs is kept for them, or lent out. */
  readonly away: readonly AwayMember[];
  /** For each item the index in `away` of the one that it belongs to, or -1. */
  readonly homes: Int32Array;
  /**
   * The creation id of the node that it was written for; left out by the write that creates the node. A
   * node that was deleted and made anew counts its versions anew, so that a former leader's write may
   * succeed in the wrong one. What stands in another node than it was written for is no plan.
   */
  readonly node?: string | undefined;
}

/** A member is its registration: the same id back again is another incarnation, beside the old one. */
export interface PlanMember {
  readonly id: string;
  readonly incarnation: string;
  /** For how long its lease may outlive its node, in milliseconds. */
  readonly lease: number;
  readonly address?: string | undefined;
  /** If it goes, what it held is to be there for it when it comes back in time. */
  readonly rejoin?: Rejoin | undefined;
}

/** How a group waits for an instance, with what decides meanwhile what may be kept for it. */
export interface Rejoin {
  /** For how long, in milliseconds; counted by whoever leads. */
  readonly window: number;
  /** Whether others hold its items meanwhile; if not, nobody does. */
  readonly lends: boolean;
  /** The one it brings along: without weight nothing is kept for it. */
  readonly weight: number;
  /** What needs others is not kept for it. */
  readonly labels: Readonly<Record<string, string>>;
}

/** An instance by its id: whoever comes back under it is another incarnation. */
export interface AwayMember extends Rejoin {
  readonly id: string;
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

/**
 * Everything that a plan says about one member. Items in flat arrays and the rest read off the plan:
 * with a hundred thousand items, maps of them for each plan would cost more than all else.
 */
export class MemberShare {
  /** What it may hold, in order. */
  readonly granted: Int32Array;
  /** What is being taken from it, in order. */
  readonly revoked: Int32Array;

  constructor(
    private readonly plan: Pick<Plan, 'owners' | 'tokens' | 'marks'>,
    private readonly index: number,
  ) {
    const { owners, marks } = plan;
    const granted: number[] = [];
    const revoked: number[] = [];
    for (let item = 0; item < owners.length; item++) {
      if (owners[item] === index) (marks[item] === 0 ? granted : revoked).push(item);
    }
    this.granted = Int32Array.from(granted);
    this.revoked = Int32Array.from(revoked);
  }

  /** The token by which it may hold the item, or 0 if it may not. */
  tokenOf(item: number): number {
    const { owners, tokens, marks } = this.plan;
    return owners[item] === this.index && marks[item] === 0 ? tokens[item]! : 0;
  }

  /** The epoch since which a revoked item is being taken away. */
  markOf(item: number): number {
    return this.plan.marks[item]!;
  }
}

export function shareOf(plan: Plan, incarnation: string): MemberShare | undefined {
  const index = memberIndex(plan, incarnation);
  return index < 0 ? undefined : new MemberShare(plan, index);
}

/** What a plan that does not know a member says about it. */
export const NO_SHARE = new MemberShare(
  { owners: new Int32Array(), tokens: new Float64Array(), marks: new Float64Array() },
  0,
);
