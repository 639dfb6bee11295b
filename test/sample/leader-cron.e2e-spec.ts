import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import type { NodeProcess } from '../kit/processes.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { endAll, startSample, TAKE_OVER } from './samples.js';

/** Far enough apart that a process which is a little late is not taken for the next tick. */
const PERIOD = 2_000;
const CRON = '*/2 * * * * *';
const TICKS = 3;
const EACH_ONCE = ['report', 'shard 0', 'shard 1', 'shard 2', 'shard 3', 'shard 4', 'shard 5'];

interface Run {
  readonly tick: number;
  readonly job: string;
  readonly process: NodeProcess;
}

function runsOf(processes: readonly NodeProcess[]): Run[] {
  return processes.flatMap((process) =>
    process.lines.flatMap((line) => {
      const [, time, job] = /\[Jobs\] (\S+) (?:the )?(report|shard \d+)/.exec(line) ?? [];
      if (time === undefined || job === undefined) return [];
      return [{ tick: Math.floor(Date.parse(time) / PERIOD), job, process }];
    }),
  );
}

/** From the first tick at which all went as it should: a few ticks in a row, all with the same leader. */
async function ticksAsOne(processes: readonly NodeProcess[], timeout: number) {
  const now = Math.floor(Date.now() / PERIOD);
  const jobsAt = (tick: number) =>
    runsOf(processes)
      .filter((run) => run.tick === tick)
      .map(({ job }) => job)
      .toSorted();
  const isRight = (tick: number) => jobsAt(tick).join() === EACH_ONCE.join();
  const first = await eventually(
    () => runsOf(processes).find(({ tick }) => tick > now && isRight(tick))?.tick ?? false,
    { timeout, label: 'a tick at which each job ran once' },
  );
  // When a later tick was heard of, those before it are over everywhere.
  const isOver = () => runsOf(processes).some(({ tick }) => tick > first + TICKS);
  await eventually(isOver, { timeout: (TICKS + 3) * PERIOD });
  const ticks = Array.from({ length: TICKS }, (_, index) => first + index);
  expect(ticks.map(jobsAt)).toEqual(ticks.map(() => EACH_ONCE));
  const reports = runsOf(processes).filter(
    ({ tick, job }) => ticks.includes(tick) && job === 'report',
  );
  const leaders = new Set(reports.map(({ process }) => process));
  expect(leaders.size).toBe(1);
  return [...leaders][0]!;
}

describe('sample 03-leader-cron', () => {
  const processes: NodeProcess[] = [];
  afterEach(() => endAll(processes));

  it('ticks once on the leader and once for each shard, over all processes', async () => {
    const namespace = uniqueNamespace('sample-cron');
    const env = { ZOOKEEPER_CONNECT: sharedConnect(), NAMESPACE: namespace, CRON };
    for (let n = 0; n < 3; n += 1) processes.push(await startSample('03-leader-cron', env));
    const leader = await ticksAsOne(processes, 30_000);

    // The leader leaves in good order: another one ticks, and still each shard once.
    expect(await leader.end('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    await ticksAsOne(
      processes.filter((process) => process !== leader),
      TAKE_OVER,
    );
  }, 90_000);

  it('runs on its own without ZooKeeper, and says so', async () => {
    const process = await startSample('03-leader-cron', { NAMESPACE: 'alone', CRON });
    processes.push(process);
    await process.line(/memory registry, this process is on its own/);
    await eventually(() => expect(runsOf([process]).length).toBeGreaterThanOrEqual(7));
  });
});
