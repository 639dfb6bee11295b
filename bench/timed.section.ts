/** Times of what happens in good order and after a crash, with every instance in its own process. */
import { eventually } from '../test/kit/eventually.js';
import { TcpProxy } from '../test/kit/tcp-proxy.js';
import { optionsFor, type RoundTrips, SESSION_TIMEOUT } from './instance.js';
import { crashLimit, HAND_OVER, JOIN, LEAVE, type TimeLimit } from './limits.js';
import { atRest, BenchProcess, killAll, processGroup, type State } from './process.js';
import type { Report } from './report.js';
import { median, sum } from './statistics.js';
import type { Figure } from './table.js';

/**
 * The limits are about round trips. On the loopback of one machine, where a round trip costs less than
 * the work of five processes that share its cores, mostly that work is measured; so everything is done
 * a second time with the distance between machines in between.
 */
interface Network {
  readonly name: string;
  readonly connect: string;
  /** What has to be known beside a limit that is made of round trips. */
  readonly remark: string;
}

export async function onBothNetworks(
  report: Report,
  bench: (report: Report, network: Network) => Promise<void>,
): Promise<void> {
  const { connect } = report;
  await bench(report, { name: 'loopback', connect, remark: '; mostly CPU' });
  const proxy = await TcpProxy.start({ target: report.connect });
  proxy.up.delay(2);
  proxy.down.delay(2);
  await bench(report, { name: '4 ms away', connect: proxy.connect, remark: '' });
  await proxy.close();
}

interface Join {
  readonly time: number;
  readonly limit: number;
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
  const limit = median(joins.map((join) => join.limit));
  report.add(
    {
      name: `join of a 4th, total ${mode}, ${network.name}`,
      measured: limit * median(joins.map((join) => join.time / join.limit)),
      limit,
      unit: 'ms',
      basis: JOIN.basis + network.remark,
    },
    {
      name: '  the first one, in fresh processes',
      measured: joins[0]!.time,
      unit: 'ms',
      basis: 'none: code that runs for the first time',
    },
  );
  if (typeof total === 'number') {
    report.add({
      name: '  shards that moved',
      measured: Math.max(...joins.map(({ moved }) => moved)),
      limit: Math.floor(total / 4),
      unit: 'moves',
      basis: 'the lower bound',
    });
  }
}

/** Ends when all four have run @OnShardingCompleted for it. */
async function measureJoin(group: readonly BenchProcess[], newcomer: BenchProcess): Promise<Join> {
  const trips = await newcomer.roundTrips();
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
    limit: JOIN.of(trips),
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
  const trips: RoundTrips[] = [];
  for (let round = 0; round < report.rounds; round++) {
    trips.push(await group[3]!.roundTrips());
    leaves.push(await measureLeave(group, ({ isLeader }) => !isLeader));
    handOvers.push(await measureHandOver(group));
  }
  await killAll(group);
  const figure = (what: string, times: readonly number[], limit: TimeLimit): Figure => ({
    name: `${what}, ${network.name}`,
    measured: median(times),
    limit: median(trips.map((each) => limit.of(each))),
    unit: 'ms',
    basis: limit.basis + network.remark,
  });
  report.add(
    figure('hand-over of leadership', handOvers, HAND_OVER),
    figure('graceful leave, its shards elsewhere', leaves, LEAVE),
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
  const limit = crashLimit(SESSION_TIMEOUT);
  report.add({
    name: 'kill -9 until granted again',
    measured: Math.max(...times),
    limit: limit.of(),
    unit: 'ms',
    basis: limit.basis,
  });
}
