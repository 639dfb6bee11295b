/** The leader's computation and its document, without any registry. */
import { newConfig } from '../lib/coordinator/group-config.js';
import { type MemberRecord, newMemberRecord } from '../lib/coordinator/member-record.js';
import type { Plan } from '../lib/coordinator/plan.js';
import { encodePlan } from '../lib/coordinator/plan-codec.js';
import { type LeaderFacts, next } from '../lib/coordinator/planner.js';
import { sticky } from '../lib/strategies/index.js';
import { SeededRandom } from '../test/kit/seeded-random.js';
import type { Report } from './report.js';
import { median, now } from './statistics.js';

const TOTAL = 100_000;
const SIZE = 1_000;
const CHANGES = 10_000;
const config = newConfig(TOTAL, 'sticky');

export function benchPlanning(report: Report): void {
  report.note(`planning ${TOTAL} shards × ${SIZE} instances`);
  for (const [total, size] of [
    [1_000, 10],
    [10_000, 100],
    [TOTAL, SIZE],
  ] as const) {
    const { time, plan } = timeOfJoin(total, size);
    const isLargest = total === TOTAL;
    report.add({
      name: `next() for a join, ${total} shards × ${size}`,
      measured: time,
      unit: 'ms',
      ...(isLargest && { limit: 5 }),
      basis: isLargest ? 'fixed' : 'none: shows how it grows',
    });
    if (isLargest) report.add(sizeFigure('that plan, encoded', encodePlan(plan).length));
  }
}

function timeOfJoin(total: number, size: number): { time: number; plan: Plan } {
  const members = Array.from({ length: size + 1 }, (_, index) => memberOf(index));
  const ofTotal = { ...config, total };
  const first = next(undefined, members.slice(0, size), ofTotal, factsFor(members)).plan!;
  const facts = factsFor(members);
  const times: number[] = [];
  let plan = first;
  for (let round = 0; round < 200; round++) {
    const started = now();
    plan = next(first, members, ofTotal, facts).plan!;
    times.push(now() - started);
  }
  return { time: median(times), plan };
}

/** Each change is a join or a leave, followed until nothing is left to move. */
export function benchPlanSize(report: Report): void {
  report.note(`the plan after ${CHANGES} random joins and leaves (takes minutes)`);
  const random = new SeededRandom(1);
  let members = Array.from({ length: SIZE }, (_, index) => memberOf(index));
  let plan = settle(undefined, members, 0);
  for (let change = 1; change <= CHANGES; change++) {
    const isJoin = random.below(2) === 0;
    const left = random.below(members.length);
    members = isJoin
      ? [...members, memberOf(SIZE + change)]
      : members.filter((_, index) => index !== left);
    plan = settle(plan, members, change);
    if (change % 1_000 === 0) report.note(`  ${change} changes, ${members.length} members`);
  }
  report.add(sizeFigure(`the plan after ${CHANGES} random changes`, encodePlan(plan).length));
}

function settle(plan: Plan | undefined, members: MemberRecord[], round: number): Plan {
  let current = plan;
  let live = members;
  for (;;) {
    const facts = {
      ...factsFor(live),
      wall: Date.UTC(2026, 0) + round * 60_000,
      waitedOut: new Set(current?.members.map(({ incarnation }) => incarnation)),
    };
    const step = next(current, live, config, facts);
    if (!step.plan) return current!;
    current = step.plan;
    if (current.settled) return current;
    const { epoch } = current;
    live = live.map((member) => ({ ...member, acked: epoch }));
  }
}

function memberOf(index: number): MemberRecord {
  const id = `10.0.${index >> 8}.${index & 255}@-@${index}@-@abcdef01`;
  return newMemberRecord(
    { id, ip: '', pid: 1, weight: 1, labels: {} },
    index.toString(16).padStart(16, '0'),
    {
      lease: 5_000,
      drainTimeout: 15_000,
      surrendered: 0,
      leaving: false,
      rejoinWindow: 0,
      lends: false,
    },
  );
}

function factsFor(members: readonly MemberRecord[]): LeaderFacts {
  const { id, incarnation } = members[0]!;
  return {
    office: { id, incarnation, lease: 5_000, owed: 0, term: 1 },
    wall: Date.now(),
    nonce: 'n',
    waitedOut: new Set(),
    lastWords: new Map(),
    mayCreate: true,
    mayRevoke: true,
    overstayed: new Set(),
    isForced: false,
    strategy: sticky,
  };
}

function sizeFigure(name: string, bytes: number) {
  return { name, measured: bytes / 1_000, limit: 300, unit: 'KB', basis: 'fixed' };
}
