/** Times of what happens in good order and after a crash, with every instance in its own process. */
import { eventually } from '../test/kit/eventually.js';
import { TcpProxy } from '../test/kit/tcp-proxy.js';
import { optionsFor, SESSION_TIMEOUT } from './instance.js';
import { atRest, BenchProcess, killAll, processGroup, type State } from './process.js';
import type { Report } from './report.js';
import { median, sum } from './statistics.js';

export const TICK = 200;

/**
 * The limits are about round trips. On the loopback of one machine, where a round trip costs less than
 * the work of five processes that share its cores, mostly that work is measured; so everything is done
 * a second time with the distance between machines in between.
 */
interface Network {
  readonly name: string;
  readonly connect: string;
}

export async function onBothNetworks(
  report: Report,
  bench: (report: Report, network: Network) => Promise<void>,
): Promise<void> {
  await bench(report, { name: 'loopback', connect: report.connect });
  const proxy = await TcpProxy.start({ target: report.connect });
  proxy.up.delay(2);
  proxy.down.delay(2);
  await bench(report, { name: '4 ms away', connect: proxy.connect });
  await proxy.close();
}

interface Join {
  readonly time: number;
  readonly unit: number;
  readonly moved: number;
}

export async function benchJoin(report: Report, network: Network): Promise<void> {
  await benchJoinWith(report, network, 'a number', 1_000);
  await benchJoinWith(report, network, 'instances', 'instances');
}

/**
 * The same four processes again and again: the limit is about round trips, so the median shall not be
 * that of code which runs for the first time. What a first time costs stands beside it.
 */
async function benchJoinWith(
  report: Report,
  network: Network,
  mode: string,
  total: number | 'instances',
): Promise<void> {
  report.note(`join of a 4th instance, total ${mode}, ${network.name}: ${report.rounds} rounds`);
  const options = optionsFor(network.connect, total);
  const group = await processGroup(3, options);
  const fourth = await BenchProcess.connect('i3', options);
  const joins: Join[] = [];
  for (let round = 0; round < report.rounds; round++) {
    joins.push(await measureJoin(group, fourth));
    await fourth.leave();
    await atRest(group);
  }
  await killAll([...group, fourth]);
  const unit = median(joins.map((join) => join.unit));
  report.add(
    {
      name: `join of a 4th, total ${mode}, ${network.name}`,
      measured: unit * median(joins.map((join) => join.time / join.unit)),
      limit: 2 * unit,
      unit: 'ms',
      basis: '2 × (4W+5R)',
    },
    {
      name: '  the first one, in fresh processes',
      measured: joins[0]!.time,
      unit: 'ms',
      basis: 'code that runs for the first time',
    },
  );
  if (typeof total === 'number') {
    report.add({
      name: '  shards that moved',
      measured: Math.max(...joins.map(({ moved }) => moved)),
      limit: Math.floor(total / 4),
      unit: '',
      basis: 'the lower bound',
    });
  }
}

/** Ends when all four have run @OnShardingCompleted for it. */
async function measureJoin(group: readonly BenchProcess[], newcomer: BenchProcess): Promise<Join> {
  const { write, read } = await newcomer.roundTrips();
  const all = [...group, newcomer];
  const before = await statesOf(all);
  const started = await newcomer.start();
  const after = await eventually(
    async () => {
      const states = await statesOf(all);
      return states.every(({ completed }, index) => completed > before[index]!.completed) && states;
    },
    { interval: 50, timeout: 20_000, label: 'all have completed' },
  );
  return {
    time: Math.max(...after.map(({ lastCompleted }) => lastCompleted)) - started,
    unit: 4 * write + 5 * read,
    moved: acquiredBy(after) - acquiredBy(before),
  };
}

const statesOf = (group: readonly BenchProcess[]): Promise<State[]> =>
  Promise.all(group.map((instance) => instance.state()));
const acquiredBy = (states: readonly State[]): number =>
  sum(states.map(({ acquired }) => acquired));

export async function benchLeave(report: Report, network: Network): Promise<void> {
  report.note(`hand-over of leadership and leave, ${network.name}: ${report.rounds} rounds`);
  const group = await processGroup(4, optionsFor(network.connect, 100));
  const handOvers: number[] = [];
  const leaves: number[] = [];
  const trips: number[] = [];
  for (let round = 0; round < report.rounds; round++) {
    const { write, read } = await group[3]!.roundTrips();
    trips.push(write + read);
    leaves.push(await measureLeave(group, ({ isLeader }) => !isLeader));
    handOvers.push(await measureHandOver(group));
  }
  await killAll(group);
  const unit = median(trips);
  report.add(
    {
      name: `hand-over of leadership, ${network.name}`,
      measured: median(handOvers),
      limit: 3 * unit,
      unit: 'ms',
      basis: '3 × (W+R)',
    },
    {
      name: `graceful leave, its shards elsewhere, ${network.name}`,
      measured: median(leaves),
      limit: 4 * unit,
      unit: 'ms',
      basis: '4 × (W+R)',
    },
  );
}

async function measureLeave(
  group: readonly BenchProcess[],
  isLeaver: (state: State) => boolean,
): Promise<number> {
  const leaver = (await statesOf(group)).findIndex(isLeaver);
  const others = group.filter((_, index) => index !== leaver);
  const left = await group[leaver]!.leave();
  const states = await atRest(others);
  await group[leaver]!.start();
  await atRest(group);
  return Math.max(...states.map(({ lastAcquired }) => lastAcquired)) - left;
}

async function measureHandOver(group: readonly BenchProcess[]): Promise<number> {
  const leader = (await statesOf(group)).findIndex(({ isLeader }) => isLeader);
  const heirs = group.filter((_, index) => index !== leader);
  await group[leader]!.leave();
  const { lastLeaderLost } = await group[leader]!.state();
  const states = await atRest(heirs);
  await group[leader]!.start();
  await atRest(group);
  return Math.max(...states.map(({ lastLeading }) => lastLeading)) - lastLeaderLost;
}

export async function benchCrash(report: Report): Promise<void> {
  report.note('kill -9 of a holder: 3 rounds');
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const group = await processGroup(3, optionsFor(report.connect, 90));
    const killed = await group.pop()!.kill();
    const states = await atRest(group);
    times.push(Math.max(...states.map(({ lastAcquired }) => lastAcquired)) - killed);
    await killAll(group);
  }
  const lease = SESSION_TIMEOUT / 2;
  report.add({
    name: 'kill -9 until granted again',
    measured: Math.max(...times),
    limit: SESSION_TIMEOUT + lease + Math.max(500, lease / 10) + TICK + 100,
    unit: 'ms',
    basis: 'T + D + margin + tick + 100',
  });
}
