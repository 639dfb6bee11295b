import type { MemberRecord } from '../../lib/coordinator/member-record.js';
import type { Plan, PlanMember } from '../../lib/coordinator/plan.js';
import { encodePlan } from '../../lib/coordinator/plan-codec.js';
import { addressed, readPlan } from '../../lib/coordinator/plan-store.js';
import type { LeaderFacts } from '../../lib/coordinator/planner.js';
import { ANY_VERSION, type NodeStat, type Registry } from '../../lib/registry/registry.js';
import { sticky } from '../../lib/strategies/index.js';

/** The registration `a2` is the second life of the instance `a`. */
const idOf = (incarnation: string): string => incarnation.replace(/\d+$/, '');

export function member(incarnation: string, change: Partial<MemberRecord> = {}): MemberRecord {
  return {
    id: idOf(incarnation),
    incarnation,
    address: undefined,
    weight: 1,
    labels: {},
    format: 1,
    lease: 5_000,
    drainTimeout: 10_000,
    acked: 0,
    surrendered: 0,
    leaving: false,
    rejoinWindow: 0,
    lends: false,
    ...change,
  };
}

/**
 * A plan from one word for each item: `a1:5` is held by a1 with token 5, `a1:5!8` is being taken from it
 * since epoch 8, `-` is nobody's. Members that hold nothing are named in `change.members`.
 */
export function planOf(
  items: string,
  change: Omit<Partial<Plan>, 'members'> & { readonly members?: readonly string[] } = {},
): Plan {
  const words = items.split(' ').filter((word) => word !== '');
  const parsed = words.map((word) => /^(?:-|(\w+):(\d+)(?:!(\d+))?)$/.exec(word)!);
  const names = [
    ...new Set([...(change.members ?? []), ...parsed.flatMap(([, name]) => name ?? [])]),
  ].toSorted();
  const numbers = (group: number): number[] => parsed.map((word) => Number(word[group] ?? 0));
  return {
    epoch: Math.max(1, ...numbers(2), ...numbers(3)),
    nonce: 'before',
    office: { id: 'z', incarnation: 'z1', lease: 5_000, term: 1, owed: 0 },
    total: words.length,
    nextTotal: words.length,
    settled: true,
    away: [],
    homes: new Int32Array(words.length).fill(-1),
    ...change,
    members: names.map((name): PlanMember => ({ id: idOf(name), incarnation: name, lease: 5_000 })),
    owners: Int32Array.from(parsed, ([, name]) => (name === undefined ? -1 : names.indexOf(name))),
    tokens: Float64Array.from(numbers(2)),
    marks: Float64Array.from(numbers(3)),
  };
}

/** Writes a plan as a leader does, over whatever stands there; returns it as it was written. */
export async function putPlan(
  registry: Registry,
  path: string,
  plan: Plan,
): Promise<{ readonly plan: Plan; readonly stat: NodeStat | undefined }> {
  if (!(await registry.exists(path))) {
    await registry.create(path, encodePlan(plan), { parents: true });
    return { plan, stat: await registry.exists(path) };
  }
  const written = addressed(plan, readPlan(await registry.get(path)));
  return { plan: written, stat: await registry.set(path, encodePlan(written), ANY_VERSION) };
}

/** The words of `planOf`, or undefined where there is no plan. */
export function wordsOf(plan: Plan | undefined): string | undefined {
  if (!plan) return undefined;
  return Array.from(plan.owners, (owner, item) => {
    if (owner < 0) return '-';
    const mark = plan.marks[item]! > 0 ? `!${plan.marks[item]}` : '';
    return `${plan.members[owner]!.incarnation}:${plan.tokens[item]}${mark}`;
  }).join(' ');
}

/** What the leader z1 knows, in office since epoch 1, on a clock that is always behind. */
export function factsOf(change: Partial<LeaderFacts> = {}): LeaderFacts {
  return {
    office: { id: 'z', incarnation: 'z1', lease: 5_000, owed: 0, term: 1 },
    wall: 0,
    nonce: 'after',
    waitedOut: new Set(),
    lastWords: new Map(),
    mayCreate: false,
    mayRevoke: true,
    overstayed: new Set(),
    isForced: false,
    strategy: sticky,
    ...change,
  };
}
