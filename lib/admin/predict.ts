import type { GroupConfig } from '../coordinator/group-config.js';
import type { MemberRecord } from '../coordinator/member-record.js';
import type { Plan, PlanMember } from '../coordinator/plan.js';
import { PLAN_FORMAT } from '../coordinator/plan-codec.js';
import { type LeaderFacts, next, type Step } from '../coordinator/planner.js';
import { rosterOf } from '../coordinator/roster.js';
import type { StrategyBook } from '../coordinator/strategy-book.js';
import { RefusedError } from './admin.errors.js';

/** What might happen to a group. @publicApi */
export interface WhatIf {
  /** These join. */
  readonly join?: readonly JoiningInstance[];
  /** The ids of those that go, in good order or not: who gets what is the same in the end. */
  readonly leave?: readonly string[];
  /** The configuration becomes what this makes of it. */
  readonly change?: (config: GroupConfig) => GroupConfig;
}

/** @publicApi */
export interface JoiningInstance {
  readonly id: string;
  /** @default 1 */
  readonly weight?: number;
  /** @default none */
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * What would come of it. Who will hold an item: `to` of its entry in `moved`; else nobody, if it is in
 * `unplaced`; else whoever holds it now.
 * @publicApi
 */
export interface Prediction {
  /** The total afterwards. */
  readonly total: number;
  /** How many items somebody else holds afterwards; where the total changes, all that somebody holds. */
  readonly moves: number;
  readonly moved: readonly PredictedMove[];
  /** How many items are stopped on the way; where the total changes, all of them are. */
  readonly stopped: number;
  /** How many plans the leader writes. */
  readonly steps: number;
  /** What each instance holds before and afterwards. */
  readonly loads: readonly PredictedLoad[];
  /** The items that nobody holds afterwards, whether somebody does now or not. */
  readonly unplaced: readonly number[];
  /** False if this was given up, because it takes too many steps. */
  readonly settles: boolean;
}

/** @publicApi */
export interface PredictedMove {
  readonly item: number;
  /** Left out where nobody had it. */
  readonly from?: string;
  readonly to: string;
}

/** @publicApi */
export interface PredictedLoad {
  readonly id: string;
  readonly before: number;
  readonly after: number;
}

export type Strategies = Pick<StrategyBook, 'named'>;

/** With a limit of one move at a time a large group needs as many steps as there are moves. */
const MOST_STEPS = 5_000;

/**
 * What the leader would do, found out by asking the very function that decides it, over and over, and
 * acknowledging at once what it takes away. Nothing is written; who is dead counts as waited out, and who
 * is away as staying away.
 */
export async function predict(
  plan: Plan | undefined,
  members: readonly MemberRecord[],
  config: GroupConfig,
  { join = [], leave = [], change = (same) => same }: WhatIf,
  strategies: Strategies,
): Promise<Prediction> {
  const records = joined(without(members, leave), join, plan);
  const wanted = change(config);
  const foreseeing = stepsOf(plan, records, wanted, strategies);
  const { end, stopped, steps, settles } = await byAndBy(foreseeing, plan?.total ?? 0);
  const [before, after] = [holders(plan), holders(end)];
  const moved = movesBetween(before, after);
  return {
    total: after.length,
    moves: moved.length,
    moved,
    stopped,
    steps,
    loads: loadsOf(before, after, [...rosterOf(records, wanted).holders.keys()]),
    unplaced: after.flatMap((holder, item) => (holder === undefined ? item : [])),
    settles,
  };
}

interface Foreseen {
  readonly end: Plan | undefined;
  readonly stopped: number;
  readonly steps: number;
  readonly settles: boolean;
}

/** The plan that everything will have come to when nothing else happens. */
export function foresee(...given: Parameters<typeof stepsOf>): Foreseen {
  const steps = stepsOf(...given);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** How many items to look at before others have their turn: some milliseconds. */
const ITEMS_AT_ONCE = 100_000;

/** The same for an application that has other things to do meanwhile. */
async function byAndBy(steps: ReturnType<typeof stepsOf>, total: number): Promise<Foreseen> {
  for (let looked = 0; ; looked += total) {
    if (looked >= ITEMS_AT_ONCE) {
      looked = 0;
      await nextTurn();
    }
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Stops after each step. */
function* stepsOf(
  plan: Plan | undefined,
  members: readonly MemberRecord[],
  config: GroupConfig,
  strategies: Strategies,
  { overstays = true }: Partial<Pick<Patience, 'overstays'>> = {},
): Generator<void, Foreseen, void> {
  let end = plan;
  let records = members;
  let stopped = 0;
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    if (end) records = acknowledged(records, end);
    const step = stepOf(end, records, config, strategies, { waitsOutDead: true, overstays });
    if (!step.plan) return { end, stopped, steps, settles: true };
    end = step.plan;
    stopped += step.revoked;
    yield;
  }
  return { end, stopped, steps: MOST_STEPS, settles: false };
}

/** For what a leader has waited long enough. */
interface Patience {
  /** The leases of the dead count as over. */
  readonly waitsOutDead: boolean;
  /** Whoever is away counts as staying away. */
  readonly overstays: boolean;
  /** A rebalance may begin now. @default true */
  readonly mayRevoke?: boolean;
}

/** The step that a leader would take now, as far as what it has to wait for itself allows. */
export function stepOf(
  plan: Plan | undefined,
  members: readonly MemberRecord[],
  config: GroupConfig,
  strategies: Strategies,
  { waitsOutDead, overstays, mayRevoke = true }: Patience,
): Step {
  const live = new Set(members.map(({ incarnation }) => incarnation));
  const gone = plan?.members.filter(({ incarnation }) => !live.has(incarnation)) ?? [];
  const ids = new Set(members.map(({ id }) => id));
  const away = [...gone, ...(plan?.away ?? [])].filter(({ id }) => !ids.has(id));
  const office = plan?.office ?? { id: '', incarnation: '', lease: 0, term: 0, owed: 0 };
  const facts: LeaderFacts = {
    office,
    wall: 0,
    nonce: '',
    waitedOut: new Set(waitsOutDead ? gone.map(({ incarnation }) => incarnation) : []),
    overstayed: new Set(overstays ? away.map(({ id }) => id) : []),
    lastWords: new Map(),
    mayCreate: true,
    mayRevoke,
    isForced: false,
    strategy: strategies.named(config.strategy),
  };
  return next(plan, members, config, facts);
}

/** For each item its holder. */
export function holders(plan: Plan | undefined): (PlanMember | undefined)[] {
  return plan ? Array.from(plan.owners, (owner) => plan.members[owner]) : [];
}

function without(members: readonly MemberRecord[], leave: readonly string[]): MemberRecord[] {
  const unknown = leave.find((id) => members.every((member) => member.id !== id));
  if (unknown !== undefined) {
    throw new RefusedError(`${JSON.stringify(unknown)} cannot leave: it is not registered`);
  }
  return members.filter(({ id }) => !leave.includes(id));
}

function joined(
  members: readonly MemberRecord[],
  join: readonly JoiningInstance[],
  plan: Plan | undefined,
): MemberRecord[] {
  const records = [...members];
  for (const { id, weight = 1, labels = {} } of join) {
    if (records.some((record) => record.id === id)) {
      throw new RefusedError(`${JSON.stringify(id)} cannot join: it is registered already`);
    }
    if (id === '' || id.includes('/') || !Number.isFinite(weight) || weight < 0) {
      throw new RefusedError(
        `${JSON.stringify(id)} with weight ${weight} cannot join: expected a name without slashes and a weight from 0`,
      );
    }
    records.push({
      ...{ id, weight, labels, incarnation: `${id} as it might join`, address: undefined },
      ...{ format: PLAN_FORMAT, lease: 0, drainTimeout: 0, leaving: false },
      ...{ acked: 0, surrendered: plan?.epoch ?? 0, rejoinWindow: 0, lends: false },
    });
  }
  return records;
}

/** As it is once everybody has let go of what was asked back. */
function acknowledged(members: readonly MemberRecord[], plan: Plan): MemberRecord[] {
  const asked = new Set<string>();
  plan.marks.forEach((mark, item) => {
    if (mark > 0) asked.add(plan.members[plan.owners[item]!]!.incarnation);
  });
  return members.map((member) =>
    asked.has(member.incarnation) ? { ...member, acked: plan.epoch } : member,
  );
}

type Holders = readonly (PlanMember | undefined)[];

function movesBetween(before: Holders, after: Holders): PredictedMove[] {
  // An item of another total is another item, even where it has the same number.
  const isComparable = before.length === after.length;
  return after.flatMap((holder, item) => {
    const former = isComparable ? before[item] : undefined;
    if (!holder || holder.incarnation === former?.incarnation) return [];
    return { item, ...(former ? { from: former.id } : {}), to: holder.id };
  });
}

function loadsOf(before: Holders, after: Holders, able: readonly string[]): PredictedLoad[] {
  const [had, has] = [countsOf(before), countsOf(after)];
  const ids = new Set([...able, ...had.keys(), ...has.keys()]);
  return [...ids].toSorted().map((id) => ({
    id,
    before: had.get(id) ?? 0,
    after: has.get(id) ?? 0,
  }));
}

function countsOf(held: Holders): Map<string, number> {
  const counts = new Map<string, number>();
  for (const holder of held) if (holder) counts.set(holder.id, (counts.get(holder.id) ?? 0) + 1);
  return counts;
}
