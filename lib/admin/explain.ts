import type { GroupConfig } from '../coordinator/group-config.js';
import type { MemberRecord } from '../coordinator/member-record.js';
import type { Plan, PlanMember } from '../coordinator/plan.js';
import { rosterOf, type Seat } from '../coordinator/roster.js';
import { foresee, holders, type Strategies, stepOf } from './predict.js';
import { formatLabels, hasLabels } from './standing.js';

/** Why an item is not where it will be, in stable words. @publicApi */
export type WaitReason =
  /** Its holder was asked to let go. */
  | 'draining'
  /** Its holder is gone, and may believe for a while that it still holds it. */
  | 'lease'
  /** It is kept for an instance that may come back. */
  | 'reserved'
  /** The total changes, for which everything has to be let go first. */
  | 'total'
  /** It is held, and stays where it is while the group is paused. */
  | 'paused'
  /** As many are on the move as may be. */
  | 'limit'
  /** It will move when the moves under way are done. */
  | 'queued'
  /** An operator wants nobody to hold it. */
  | 'disabled'
  /** No instance has the labels that it needs. */
  | 'needs'
  /** No instance may be given anything. */
  | 'nobody'
  /** Nothing is in its way: the leader has to get to it. */
  | 'leader';

/** Items that wait for the same thing. @publicApi */
export interface Wait {
  readonly items: readonly number[];
  /** Who holds them; left out where nobody does. */
  readonly from?: string;
  /** Who will hold them; left out where nobody will, or where it cannot be known yet. */
  readonly to?: string;
  readonly reason: WaitReason;
  /** The same for people. */
  readonly why: string;
}

type Because = Pick<Wait, 'reason' | 'why'>;

/** Says of each item that is not where it will be, or that nobody will hold, what it waits for. */
export function explain(
  plan: Plan,
  members: readonly MemberRecord[],
  config: GroupConfig,
  strategies: Strategies,
): Wait[] {
  const context = new Context(plan, members, config, strategies);
  const waits = new Map<string, Wait & { items: number[] }>();
  for (let item = 0; item < plan.total; item++) {
    const because = context.because(item);
    if (!because) continue;
    const from = context.holderOf(item);
    const to = context.heirOf(item);
    const key = JSON.stringify([from, to, because]);
    const wait = waits.get(key);
    if (wait) wait.items.push(item);
    else {
      waits.set(key, {
        items: [item],
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        ...because,
      });
    }
  }
  return [...waits.values()];
}

/** What is known of all items together. */
class Context {
  readonly #live: ReadonlyMap<string, MemberRecord>;
  readonly #dead: ReadonlySet<string>;
  readonly #draining: ReadonlySet<string>;
  readonly #isMoving: boolean;
  readonly #seats: readonly Seat[];
  /** Who will hold what, once a pause is over. */
  readonly #heirs: readonly (PlanMember | undefined)[];
  readonly #isBarrier: boolean;

  constructor(
    private readonly plan: Plan,
    members: readonly MemberRecord[],
    private readonly config: GroupConfig,
    strategies: Strategies,
  ) {
    this.#live = new Map(members.map((member) => [member.incarnation, member]));
    const { waiting } = stepOf(plan, members, config, strategies, {
      waitsOutDead: false,
      overstays: false,
    });
    this.#dead = new Set(waiting.dead);
    this.#draining = new Set(waiting.acknowledgements);
    this.#isMoving = plan.marks.some((mark) => mark > 0);
    this.#seats = rosterOf(members, config).seats;
    const { end } = foresee(plan, members, withoutRestraint(config), strategies, {
      overstays: false,
    });
    this.#isBarrier = end?.total !== plan.total;
    this.#heirs = this.#isBarrier ? [] : holders(end);
  }

  holderOf(item: number): string | undefined {
    return this.plan.members[this.plan.owners[item]!]?.id;
  }

  heirOf(item: number): string | undefined {
    return this.#heirs[item]?.id;
  }

  because(item: number): Because | undefined {
    const holder = this.plan.members[this.plan.owners[item]!];
    if (holder && this.#dead.has(holder.incarnation)) {
      const lease = seconds(holder.lease);
      return because('lease', `${holder.id} is gone; its lease of ${lease} is waited out`);
    }
    if (holder && this.plan.marks[item]! > 0) return this.#asked(holder);
    // A paused group keeps its total, and gives out what is free.
    if (this.#isBarrier && (holder || !this.config.paused)) return this.#barrier();
    const home = holder ? undefined : this.plan.away[this.plan.homes[item]!];
    if (home) return because('reserved', `reserved for ${home.id}, which may come back`);
    const heir = this.#heirs[item];
    if (!holder) return heir ? NOT_GIVEN : this.#unplaced(item);
    if (heir?.incarnation === holder.incarnation) return undefined;
    return this.#notBegun();
  }

  #asked({ id, incarnation }: PlanMember): Because {
    const record = this.#live.get(incarnation);
    if (!record || !this.#draining.has(incarnation)) {
      return because('leader', `${id} has let go; the leader has yet to give it away`);
    }
    const bound = seconds(record.drainTimeout);
    return because('draining', `waits for ${id} to let go (at most ${bound}, its drainTimeout)`);
  }

  #barrier(): Because {
    const { total, nextTotal } = this.plan;
    if (this.config.paused) return because('paused', 'the group is paused');
    const where = nextTotal === total ? '' : ` from ${total} to ${nextTotal}`;
    return because('total', `the total changes${where}: everyone lets go of everything first`);
  }

  /** Held, and somebody else's in the end. */
  #notBegun(): Because {
    if (this.config.paused) return because('paused', 'the group is paused');
    if (this.#isMoving && this.config.maxMoves !== undefined) {
      return because('limit', `no more than ${this.config.maxMoves} may be on the move at once`);
    }
    if (this.#isMoving) return because('queued', 'waits for the moves under way');
    return because('leader', 'the leader has yet to begin with it, maybe after its rebalanceDelay');
  }

  #unplaced(item: number): Because {
    const { disabled, needs } = this.config.items[item] ?? {};
    if (disabled) return because('disabled', 'disabled by an operator');
    if (needs && !this.#seats.some((seat) => hasLabels(seat, needs))) {
      return because('needs', `no instance has ${formatLabels(needs)}`);
    }
    if (this.#seats.length === 0) return because('nobody', 'no instance may be given anything');
    return NOT_GIVEN;
  }
}

/** It ends where it would anyway, in a few steps instead of one for each move that a limit allows. */
function withoutRestraint(config: GroupConfig): GroupConfig {
  return { ...config, paused: false, maxMoves: '100%' };
}

const because = (reason: WaitReason, why: string): Because => ({ reason, why });
/** What is free is given out at once, whatever else is on the move. */
const NOT_GIVEN = because('leader', 'the leader has yet to give it to somebody');

const seconds = (milliseconds: number): string => `${Number((milliseconds / 1_000).toFixed(1))} s`;
