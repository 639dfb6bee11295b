/**
 * What sharding costs, as ratios: W and R are the round trips of one write and one read, measured in the
 * same run on the same connection as what is compared with them. `npm run bench [-- --rounds N]`.
 */
import { parseArgs } from 'node:util';
import type { GroupConfig } from '../lib/coordinator/group-config.js';
import { newMemberRecord } from '../lib/coordinator/member-record.js';
import type { Plan } from '../lib/coordinator/plan.js';
import { encodePlan } from '../lib/coordinator/plan-codec.js';
import { type LeaderFacts, next } from '../lib/coordinator/planner.js';
import { sticky } from '../lib/strategies/index.js';
import { eventually } from '../test/kit/eventually.js';
import { uniqueNamespace } from '../test/kit/namespace.js';
import { ZooKeeperServer } from '../test/kit/zookeeper-server.js';
import { BenchInstance, type GroupOptions, type MomentKind } from './bench-group.js';
import { atRest, BenchProcess, processGroup } from './bench-process.js';
import { type Figure, isWithin, median, printTable } from './table.js';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const rounds = Number(values.rounds);
const SESSION_TIMEOUT = 4_000;
const TICK = 200;
/** As in production: a write is answered when it is on the disk, which the tests do without. */
const DURABLE = { forceSync: 'yes' };
const figures: Figure[] = [];

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function groupOf(size: number, options: GroupOptions): Promise<BenchInstance[]> {
  const group: BenchInstance[] = [];
  for (let index = 0; index < size; index++) {
    const instance = await BenchInstance.connect(`i${index}`, options);
    await instance.coordinator.start();
    group.push(instance);
  }
  await settled(group);
  return group;
}

/** Everyone is ready, all is owned, and the leader says so. */
async function settled(group: readonly BenchInstance[]): Promise<void> {
  await eventually(
    () => {
      const ready = group.every(({ coordinator }) => coordinator.status === 'ready');
      const items = group.reduce((sum, { coordinator }) => sum + coordinator.items.length, 0);
      const leaders = group.filter(({ coordinator }) => coordinator.isLeader).length;
      return ready && leaders === 1 && items === group[0]!.coordinator.total;
    },
    { label: 'a settled group', timeout: 30_000, interval: 5 },
  );
}

async function closeAll(group: readonly BenchInstance[]): Promise<void> {
  for (const instance of group) await instance.close();
}

const requestsOf = (group: readonly BenchInstance[]): number =>
  group.reduce((sum, { requests }) => sum + requests, 0);

interface Join {
  readonly time: number;
  readonly write: number;
  readonly read: number;
  readonly moved: number;
}

function optionsFor(connect: string, total: number | 'instances'): GroupOptions {
  const namespace = uniqueNamespace('bench');
  return { connect, namespace, total, sessionTimeout: SESSION_TIMEOUT };
}

/** A fourth process joins; ends when all four have run @OnShardingCompleted for it. */
async function measureJoin(connect: string, total: number | 'instances'): Promise<Join> {
  const options = optionsFor(connect, total);
  const group = await processGroup(3, options);
  const fourth = await BenchProcess.connect('i3', options);
  const { write, read } = await fourth.roundTrips();
  const all = [...group, fourth];
  const before = all.map((instance) => instance.count('completed'));
  const acquired = (): number => all.reduce((sum, instance) => sum + instance.count('acquired'), 0);
  const acquiredBefore = acquired();
  const started = await fourth.start();
  await eventually(
    () => all.every((instance, index) => instance.count('completed') > before[index]!),
    { interval: 5, timeout: 20_000, label: 'all have completed' },
  );
  const time = Math.max(...all.map((instance) => instance.lastMoment('completed'))) - started;
  const moved = acquired() - acquiredBefore;
  for (const instance of all) await instance.kill();
  return { time, write, read, moved };
}

/** All requests of a join, from the first of the newcomer until the group is at rest. */
async function countRequests(connect: string, total: number): Promise<number> {
  const options = optionsFor(connect, total);
  const group = await groupOf(3, options);
  const fourth = await BenchInstance.connect('i3', options);
  const all = [...group, fourth];
  const before = requestsOf(all);
  await fourth.coordinator.start();
  await settled(all);
  const requests = requestsOf(all) - before;
  await closeAll(all);
  return requests;
}

async function benchJoin(connect: string): Promise<void> {
  for (const [mode, total] of [
    ['a number', 1_000],
    ['instances', 'instances'],
  ] as const) {
    note(`join of a 4th instance, total ${mode}: ${rounds} rounds`);
    const joins: Join[] = [];
    for (let round = 0; round < rounds; round++) joins.push(await measureJoin(connect, total));
    const ratio = median(joins.map(({ time, write, read }) => time / (4 * write + 5 * read)));
    const unit = median(joins.map(({ write, read }) => 4 * write + 5 * read));
    figures.push({
      name: `join of a 4th, total ${mode}, all completed`,
      measured: ratio * unit,
      limit: 2 * unit,
      unit: 'ms',
      basis: '2 × (4W+5R)',
    });
    if (total === 'instances') continue;
    figures.push({
      name: 'moved shards in that join',
      measured: Math.max(...joins.map(({ moved }) => moved)),
      limit: Math.floor(total / 4),
      unit: '',
      basis: 'the lower bound',
    });
  }
  for (const total of [10, 1_000, 50_000]) {
    note(`requests of a join with ${total} shards`);
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) counts.push(await countRequests(connect, total));
    figures.push({
      name: `requests of a join, ${total} shards`,
      measured: median(counts),
      limit: 60,
      unit: '',
      basis: 'whatever the number of shards',
    });
  }
}

async function benchSteady(connect: string): Promise<void> {
  note('steady state: one session timeout long');
  const namespace = uniqueNamespace('bench');
  const group = await groupOf(4, {
    connect,
    namespace,
    total: 100,
    sessionTimeout: SESSION_TIMEOUT,
  });
  const before = group.map(({ requests }) => requests);
  const started = performance.now();
  await eventually(() => performance.now() - started > 2 * SESSION_TIMEOUT, {
    timeout: 3 * SESSION_TIMEOUT,
    interval: 50,
  });
  const renewals = (performance.now() - started) / (SESSION_TIMEOUT / 8) + 1;
  group.forEach((instance, index) => {
    const { isLeader } = instance.coordinator;
    // A renewal is one write and one look at our own registration; the leader looks at its latch too.
    figures.push({
      name: `steady state, requests of ${isLeader ? 'the leader' : `follower ${index}`}`,
      measured: instance.requests - before[index]!,
      limit: Math.ceil(renewals) * (isLeader ? 3 : 2),
      unit: '',
      basis: `renewals in ${2 * SESSION_TIMEOUT} ms`,
    });
  });
  await closeAll(group);
}

async function benchLeave(connect: string): Promise<void> {
  note(`hand-over and graceful leave: ${rounds} rounds`);
  const handOver: number[] = [];
  const leave: number[] = [];
  const trips: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const group = await processGroup(4, optionsFor(connect, 100));
    const { write, read } = await group[3]!.roundTrips();
    trips.push(write + read);
    // The first to come leads.
    const [leader, follower, ...heirs] = group as [BenchProcess, BenchProcess, ...BenchProcess[]];
    const left = await follower.stop();
    await atRest([leader, ...heirs]);
    leave.push(lastOf([leader, ...heirs], 'acquired') - left);
    await leader.stop();
    await atRest(heirs);
    handOver.push(lastOf(heirs, 'leader') - leader.lastMoment('leader-lost'));
    for (const heir of heirs) await heir.kill();
  }
  const unit = median(trips);
  figures.push(
    {
      name: 'hand-over of leadership, in good order',
      measured: median(handOver),
      limit: 3 * unit,
      unit: 'ms',
      basis: '3 × (W+R)',
    },
    {
      name: 'graceful leave until its shards run elsewhere',
      measured: median(leave),
      limit: 4 * unit,
      unit: 'ms',
      basis: '4 × (W+R)',
    },
  );
}

function lastOf(group: readonly BenchProcess[], kind: MomentKind): number {
  return Math.max(...group.map((instance) => instance.lastMoment(kind)));
}

async function benchCrash(connect: string): Promise<void> {
  note('kill -9 of a holder: 3 rounds');
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const [victim, ...group] = (await processGroup(3, optionsFor(connect, 90))).toReversed();
    const killed = await victim!.kill();
    await atRest(group);
    times.push(lastOf(group, 'acquired') - killed);
    for (const instance of group) await instance.kill();
  }
  const lease = SESSION_TIMEOUT / 2;
  figures.push({
    name: 'kill -9 until granted again',
    measured: Math.max(...times),
    limit: SESSION_TIMEOUT + lease + Math.max(500, lease / 10) + TICK + 100,
    unit: 'ms',
    basis: 'T + D + margin + tick + 100',
  });
}

function benchPlanning(): void {
  note('planning 100,000 shards × 1,000 instances');
  const config: GroupConfig = { total: 100_000, strategy: 'sticky' };
  const members = Array.from({ length: 1_001 }, (_, index) =>
    newMemberRecord(
      { id: `10.0.0.1@-@${index}@-@abcdef01`, ip: '', pid: 1, weight: 1, labels: {} },
      index.toString(16).padStart(16, '0'),
      { lease: 5_000, drainTimeout: 15_000, surrendered: 0, leaving: false },
    ),
  );
  const facts: LeaderFacts = {
    office: {
      id: members[0]!.id,
      incarnation: members[0]!.incarnation,
      lease: 5_000,
      owed: 0,
      term: 1,
    },
    wall: Date.now(),
    nonce: 'n',
    waitedOut: new Set(),
    lastWords: new Map(),
    mayCreate: true,
    mayRevoke: true,
    isForced: false,
    strategy: sticky,
  };
  const first = next(undefined, members.slice(0, 1_000), config, facts).plan!;
  const times: number[] = [];
  let plan: Plan = first;
  for (let round = 0; round < 40; round++) {
    const started = performance.now();
    plan = next(first, members, config, facts).plan!;
    times.push(performance.now() - started);
  }
  figures.push(
    { name: 'next() for a join', measured: median(times), limit: 5, unit: 'ms', basis: 'fixed' },
    {
      name: 'that plan, encoded',
      measured: encodePlan(plan).length / 1_000,
      limit: 300,
      unit: 'KB',
      basis: 'fixed',
    },
  );
}

async function benchOwns(connect: string): Promise<void> {
  note('owns()');
  const namespace = uniqueNamespace('bench');
  const group = await groupOf(1, {
    connect,
    namespace,
    total: 1_000,
    sessionTimeout: SESSION_TIMEOUT,
  });
  const { coordinator } = group[0]!;
  const calls = 5_000_000;
  let owned = 0;
  const run = (): number => {
    const started = performance.now();
    for (let call = 0; call < calls; call++) if (coordinator.owns(call % 1_000)) owned += 1;
    return ((performance.now() - started) * 1e6) / calls;
  };
  run();
  const heapBefore = process.memoryUsage().heapUsed;
  const time = run();
  const allocated = Math.max(0, process.memoryUsage().heapUsed - heapBefore) / calls;
  if (owned === 0) throw new Error('owns() never said yes: nothing was measured');
  figures.push(
    { name: 'owns()', measured: time, limit: 100, unit: 'ns', basis: 'fixed' },
    {
      name: 'owns(), allocated a call',
      measured: allocated,
      limit: 1,
      unit: 'bytes',
      basis: 'none',
    },
  );
  await closeAll(group);
}

const given = process.env['ZOOKEEPER_CONNECT'];
const server = given
  ? undefined
  : await ZooKeeperServer.start({ tickTime: TICK, settings: DURABLE });
try {
  const connect = given ?? server!.connect;
  benchPlanning();
  await benchOwns(connect);
  await benchJoin(connect);
  await benchLeave(connect);
  await benchSteady(connect);
  await benchCrash(connect);
} finally {
  await server?.close();
}
printTable(figures);
process.exitCode = figures.every(isWithin) ? 0 : 1;
