import type { ShardingStrategy } from '../interfaces/sharding-strategy.interface.js';
import { type Absences, absencesAfter, countAwaited, nobodyAway, withoutIdle } from './away.js';
import { type GroupConfig, moveLimit } from './group-config.js';
import type { MemberRecord } from './member-record.js';
import type { Office, Plan, PlanMember } from './plan.js';
import { type Roster, rosterOf } from './roster.js';
import { targetOf } from './target.js';

/** What the leader knows besides plan, members and configuration. */
export interface LeaderFacts {
  /** Who writes: `term` is undefined until office has been taken, which the next write does. */
  readonly office: Omit<Office, 'term'> & { readonly term: number | undefined };
  readonly wall: number;
  readonly nonce: string;
  /** Incarnations whose absence this leader has itself waited out: they hold nothing any more. */
  readonly waitedOut: ReadonlySet<string>;
  /** The last word of those that are gone: what they acknowledged or surrendered stays true. */
  readonly lastWords: ReadonlyMap<string, MemberRecord>;
  /** Whether a first plan may be made: nobody holds anything under a plan that was deleted. */
  readonly mayCreate: boolean;
  /** Whether a rebalance may begin now; what is free is granted in any case. */
  readonly mayRevoke: boolean;
  /** Ids that were away for longer than their window, by this leader's count. */
  readonly overstayed: ReadonlySet<string>;
  /** Somebody asked for a reshard: write a plan even if it says the same. */
  readonly isForced: boolean;
  readonly strategy: ShardingStrategy;
}

export interface Waiting {
  /** Live members that have been asked to let go and have not acknowledged yet. */
  readonly acknowledgements: readonly string[];
  /** Incarnations that are named as holders, are absent, and have to be waited out. */
  readonly dead: readonly string[];
  /** A rebalance would begin if it might. */
  readonly permission: boolean;
}

export interface Step {
  /** What to write, or undefined if there is nothing to do but wait. */
  readonly plan: Plan | undefined;
  readonly waiting: Waiting;
  /** How many items this step takes away, and gives out. */
  readonly revoked: number;
  readonly granted: number;
  /** How the plan will look when everything has moved, where this step begins to move things. */
  readonly goal: (() => Plan) | undefined;
}

const FREE = 0;
const HELD = 1;
const REVOKING = 2;
const DEAD = 3;

/**
 * The leader's whole judgement: from what was read, the next plan. It is safe whoever takes the step,
 * because an item changes hands only when its holder has let go (`isFree`), and the write carries the
 * version of the plan that this was computed from.
 */
export function next(
  plan: Plan | undefined,
  members: readonly MemberRecord[],
  config: GroupConfig,
  facts: LeaderFacts,
): Step {
  if (!plan && !facts.mayCreate) return waitFor({});
  const roster = rosterOf(members, config);
  const live = new Map(members.map((member) => [member.incarnation, member]));
  const absences = plan ? absencesAfter(plan, config, roster, { ...facts, live }) : nobodyAway(0);
  const total = totalFor(plan, config, roster, absences);

  const before = plan ?? emptyPlan(total, facts);
  const census = takeCensus(before, live, facts);
  const epoch = nextEpoch(before, members, facts);
  const draft = new Draft(before, plan ? absences : nobodyAway(total), census, epoch);

  const isBarrier = before.total !== total;
  const limit = moveLimit(config, total);
  const mayRevoke = facts.mayRevoke && census.revoking.size === 0;
  let goal: (() => Plan) | undefined;
  if (!isBarrier || census.isEmpty) {
    // Rule 4: the total changes only from a plan without any holder.
    if (isBarrier) draft.restart(total);
    const target = targetOf(draft, roster, config, facts.strategy);
    draft.follow(target, roster, mayRevoke ? limit : 0);
    draft.settleHomes(target, roster, config.paused);
    if (draft.revoked > 0) goal = () => draft.goal(target, roster, facts);
  } else {
    draft.releaseFree();
    // While a dead holder has to be waited out there is no point in stopping the others.
    if (mayRevoke && census.dead.size === 0) {
      draft.revokeAll();
      goal = () => freshPlan(total, roster, config, epoch, facts);
    }
  }

  const waiting: Waiting = {
    acknowledgements: [...census.revoking],
    dead: [...census.dead],
    permission: !facts.mayRevoke && draft.wantsToRevoke,
  };
  const after = draft.finish(roster, facts, total);
  const hasNothingToSay =
    plan !== undefined &&
    facts.office.term !== undefined &&
    !facts.isForced &&
    // A rebalance that may not begin yet is not announced either: more may join it.
    ((waiting.permission && draft.granted === 0) || isSamePlan(plan, after));
  if (hasNothingToSay) return waitFor(waiting);
  return { plan: after, waiting, revoked: draft.revoked, granted: draft.granted, goal };
}

/**
 * A paused group keeps the total that it works with. One that follows the instances keeps it while it
 * waits for those that make it up; once it changes nobody is awaited any more, so they do not count then.
 */
function totalFor(
  plan: Plan | undefined,
  config: GroupConfig,
  roster: Roster,
  absences: Absences,
): number {
  if (plan && config.paused) return plan.total;
  if (config.total !== 'instances') return config.total;
  const present = roster.holders.size;
  return present + countAwaited(absences, roster) === plan?.total ? plan.total : present;
}

/** The plan of a group that begins with this total. */
function freshPlan(
  total: number,
  roster: Roster,
  config: GroupConfig,
  epoch: number,
  facts: LeaderFacts,
): Plan {
  const before = emptyPlan(total, facts);
  const draft = new Draft(before, nobodyAway(total), nobodyHolds(total), epoch);
  draft.follow(targetOf(draft, roster, config, facts.strategy), roster, 0);
  return draft.finish(roster, facts, total);
}

function waitFor(waiting: Partial<Waiting>): Step {
  return {
    plan: undefined,
    waiting: { acknowledgements: [], dead: [], permission: false, ...waiting },
    revoked: 0,
    granted: 0,
    goal: undefined,
  };
}

const incarnationOf = ({ incarnation }: PlanMember): string => incarnation;

function emptyPlan(total: number, facts: LeaderFacts): Plan {
  return {
    epoch: 0,
    nonce: '',
    office: { ...facts.office, term: 0 },
    total,
    nextTotal: total,
    settled: false,
    members: [],
    owners: new Int32Array(total).fill(-1),
    tokens: new Float64Array(total),
    marks: new Float64Array(total),
    ...nobodyAway(total),
  };
}

/** Larger than every epoch and token that anybody has seen, whatever the clocks say. */
function nextEpoch(plan: Plan, members: readonly MemberRecord[], { wall }: LeaderFacts): number {
  let epoch = Math.max(plan.epoch + 1, Math.floor(wall));
  for (const { acked, surrendered } of members) epoch = Math.max(epoch, acked + 1, surrendered + 1);
  return epoch;
}

interface Census {
  /** For each item whether its holder has let go, holds it, is asked to let go, or is absent. */
  readonly states: Uint8Array;
  /** Incarnations that are asked to let go, and those that are absent but may still hold. */
  readonly revoking: ReadonlySet<string>;
  readonly dead: ReadonlySet<string>;
  readonly isEmpty: boolean;
}

function nobodyHolds(total: number): Census {
  return { states: new Uint8Array(total), revoking: new Set(), dead: new Set(), isEmpty: true };
}

function takeCensus(
  plan: Plan,
  live: ReadonlyMap<string, MemberRecord>,
  { waitedOut, lastWords }: LeaderFacts,
): Census {
  const { members, owners, tokens, marks, total } = plan;
  // Flat arrays, for this is asked for each of a hundred thousand items.
  const isLive = new Uint8Array(members.length);
  const acked = new Float64Array(members.length);
  const surrendered = new Float64Array(members.length);
  members.forEach(({ incarnation }, index) => {
    const member = live.get(incarnation);
    const word = member ?? lastWords.get(incarnation);
    isLive[index] = member ? 1 : 0;
    acked[index] = word?.acked ?? 0;
    surrendered[index] =
      !member && waitedOut.has(incarnation) ? Infinity : (word?.surrendered ?? 0);
  });
  const states = new Uint8Array(total);
  const isAsked = new Uint8Array(members.length);
  const isMissed = new Uint8Array(members.length);
  let isEmpty = true;
  for (let item = 0; item < total; item++) {
    const owner = owners[item]!;
    if (owner < 0) continue;
    const mark = marks[item]!;
    const hasLetGo = surrendered[owner]! >= tokens[item]! || (mark > 0 && acked[owner]! >= mark);
    if (hasLetGo) continue;
    isEmpty = false;
    if (isLive[owner] === 0) {
      states[item] = DEAD;
      isMissed[owner] = 1;
    } else if (mark > 0) {
      states[item] = REVOKING;
      isAsked[owner] = 1;
    } else states[item] = HELD;
  }
  const named = (chosen: Uint8Array): Set<string> =>
    new Set(members.filter((_, index) => chosen[index] === 1).map(incarnationOf));
  const revoking = named(isAsked);
  const dead = named(isMissed);
  return { states, revoking, dead, isEmpty };
}

/** The plan in the making: starts as a copy in which those present come first. */
class Draft {
  total: number;
  owners: Int32Array;
  tokens: Float64Array;
  marks: Float64Array;
  members: readonly PlanMember[];
  away: Absences['away'];
  homes: Int32Array;
  revoked = 0;
  granted = 0;
  wantsToRevoke = false;
  #isRenumbered = false;

  constructor(
    before: Plan,
    { away, homes }: Absences,
    public census: Census,
    readonly epoch: number,
  ) {
    this.total = before.total;
    this.owners = before.owners.slice();
    this.tokens = before.tokens.slice();
    this.marks = before.marks.slice();
    this.members = before.members;
    this.away = away;
    this.homes = homes;
  }

  readonly isHeld = (item: number): boolean => this.census.states[item] === HELD;

  /** Begins anew with another total: nobody holds anything. */
  restart(total: number): void {
    this.total = total;
    this.owners = new Int32Array(total).fill(-1);
    this.tokens = new Float64Array(total);
    this.marks = new Float64Array(total);
    this.census = nobodyHolds(total);
    this.members = [];
    this.#forgetAway();
  }

  /** Grants what is free, and asks back what has to move, up to so many items at a time. */
  follow(target: Int32Array, roster: Roster, mostRevoked: number): void {
    this.#renumber(roster.present);
    const { states } = this.census;
    for (let item = 0; item < this.total; item++) {
      if (states[item] === FREE) this.#grant(item, target[item]!);
    }
    // A wave is granted before the next one begins, or there would be more on the move than may be.
    const most = mostRevoked < Infinity && this.granted > 0 ? 0 : mostRevoked;
    for (let item = 0; item < this.total; item++) {
      if (states[item] !== HELD || this.owners[item] === target[item]) continue;
      this.#revoke(item, this.revoked < most);
    }
  }

  /**
   * Whoever is back has its items, or the target has given them to others for good: not where whoever
   * they were lent to keeps them for as long as the group is paused.
   */
  settleHomes(target: Int32Array, { holders }: Roster, isPaused: boolean): void {
    if (this.away.length === 0) return;
    const placeOf = this.away.map(({ id }) => holders.get(id));
    for (let item = 0; item < this.total; item++) {
      const place = this.homes[item]! < 0 ? undefined : placeOf[this.homes[item]!];
      if (place === undefined) continue;
      const isThere = this.owners[item] === place;
      const isElsewhere = target[item] !== place && !(isPaused && this.isHeld(item));
      if (isThere || isElsewhere) this.homes[item] = -1;
    }
  }

  revokeAll(): void {
    for (let item = 0; item < this.total; item++) {
      if (this.census.states[item] === HELD) this.#revoke(item, true);
    }
  }

  /** In a barrier what has been let go stays free. */
  releaseFree(): void {
    for (let item = 0; item < this.total; item++) {
      const state = this.census.states[item];
      if (state === FREE) this.#grant(item, -1);
      else if (state === HELD) this.wantsToRevoke = true;
    }
    this.#forgetAway();
  }

  finish({ present }: Roster, facts: LeaderFacts, nextTotal: number): Plan {
    if (!this.#isRenumbered) this.#renumber(present);
    this.#dropUnused(present.length);
    const { office, nonce } = facts;
    return {
      epoch: this.epoch,
      nonce,
      office: { ...office, term: office.term ?? this.epoch },
      total: this.total,
      nextTotal,
      settled: this.total === nextTotal && this.#isSettled,
      members: this.members,
      owners: this.owners,
      tokens: this.tokens,
      marks: this.marks,
      ...withoutIdle(this),
    };
  }

  /** How the plan will look when everything has moved: its size must be known before anything does. */
  goal(target: Int32Array, roster: Roster, facts: LeaderFacts): Plan {
    const owners = target;
    const tokens = this.tokens.map((token, item) =>
      owners[item] === this.owners[item] ? token : this.epoch,
    );
    const marks = new Float64Array(this.total);
    return { ...this.finish(roster, facts, this.total), owners, tokens, marks };
  }

  #grant(item: number, owner: number): void {
    this.owners[item] = owner;
    this.tokens[item] = owner < 0 ? 0 : this.epoch;
    this.marks[item] = 0;
    if (owner >= 0) this.granted += 1;
  }

  #revoke(item: number, isAllowed: boolean): void {
    this.wantsToRevoke = true;
    if (!isAllowed) return;
    this.marks[item] = this.epoch;
    this.revoked += 1;
  }

  #forgetAway(): void {
    this.away = [];
    this.homes = new Int32Array(this.total).fill(-1);
  }

  /** Those present, in the order of the roster, then those who only appear as holders. */
  #renumber(present: readonly MemberRecord[]): void {
    this.#isRenumbered = true;
    const fresh = present.map(asPlanMember);
    const known = new Map(fresh.map(({ incarnation }, index) => [incarnation, index]));
    const others: PlanMember[] = [];
    const renumbered = this.members.map((member) => {
      const index = known.get(member.incarnation);
      if (index !== undefined) return index;
      others.push(member);
      return fresh.length + others.length - 1;
    });
    this.members = [...fresh, ...others];
    if (renumbered.every((index, before) => index === before)) return;
    for (let item = 0; item < this.total; item++) {
      const owner = this.owners[item]!;
      if (owner >= 0) this.owners[item] = renumbered[owner]!;
    }
  }

  /** Drops members beyond those present that hold nothing. */
  #dropUnused(presentCount: number): void {
    if (this.members.length === presentCount) return;
    const isUsed = new Uint8Array(this.members.length).fill(1, 0, presentCount);
    for (let item = 0; item < this.total; item++) {
      const owner = this.owners[item]!;
      if (owner >= 0) isUsed[owner] = 1;
    }
    if (isUsed.every((used) => used === 1)) return;
    let index = 0;
    const renumbered = Array.from(isUsed, (used) => (used === 1 ? index++ : -1));
    this.members = this.members.filter((_, member) => isUsed[member] === 1);
    for (let item = 0; item < this.total; item++) {
      if (this.owners[item]! >= 0) this.owners[item] = renumbered[this.owners[item]!]!;
    }
  }

  /** Nothing is being taken away or has to be, and no dead holder is left: then all is granted. */
  get #isSettled(): boolean {
    const { revoking, dead } = this.census;
    return !this.wantsToRevoke && revoking.size === 0 && dead.size === 0;
  }
}

function asPlanMember(member: MemberRecord): PlanMember {
  const { id, incarnation, lease, address, rejoinWindow: window, lends, weight, labels } = member;
  return {
    ...{ id, incarnation, lease },
    ...(address === undefined ? {} : { address }),
    ...(window > 0 ? { rejoin: { window, lends, weight, labels } } : {}),
  };
}

/** Whether two plans say the same, but for the epoch and nonce of their writing. */
function isSamePlan(a: Plan, b: Plan): boolean {
  return (
    a.total === b.total &&
    a.nextTotal === b.nextTotal &&
    a.settled === b.settled &&
    a.office.incarnation === b.office.incarnation &&
    a.office.term === b.office.term &&
    a.members.length === b.members.length &&
    a.members.every((member, index) => member.incarnation === b.members[index]!.incarnation) &&
    a.away.length === b.away.length &&
    a.away.every(({ id }, index) => id === b.away[index]!.id) &&
    isSameArray(a.homes, b.homes) &&
    isSameArray(a.owners, b.owners) &&
    isSameArray(a.tokens, b.tokens) &&
    isSameArray(a.marks, b.marks)
  );
}

function isSameArray(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
