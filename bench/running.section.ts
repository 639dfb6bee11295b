/** What the library costs an application that runs: requests at rest, event loop, memory, a deploy. */
import { eventually } from '../test/kit/eventually.js';
import {
  BenchInstance,
  closeAll,
  groupOf,
  type GroupOptions,
  optionsFor,
  SESSION_TIMEOUT,
  settled,
} from './instance.js';
import { LEAVE, requestLimit } from './limits.js';
import { atRest, BenchProcess, killAll, processGroup } from './process.js';
import type { Report } from './report.js';
import { median, now, sum } from './statistics.js';

export async function benchRequests(report: Report): Promise<void> {
  for (const total of [10, 1_000, 50_000]) {
    report.note(`requests of a join with ${total} shards`);
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) counts.push(await requestsOfJoin(report, total));
    report.add({
      name: `requests of a join, ${total} shards`,
      measured: median(counts),
      limit: requestLimit(4),
      unit: 'requests',
      basis: 'fixed, whatever the number of shards',
    });
  }
}

/** All requests of a join, from the first of the newcomer until the group is at rest. */
async function requestsOfJoin({ connect }: Report, total: number): Promise<number> {
  const options = optionsFor(connect, total);
  const group = await groupOf(3, options, true);
  const all = [...group, await BenchInstance.connect('i3', options, true)];
  const before = requestsBy(all);
  await all[3]!.start();
  await settled(all);
  const requests = requestsBy(all) - before;
  await closeAll(all);
  return requests;
}

const requestsBy = (group: readonly BenchInstance[]): number =>
  sum(group.map(({ traffic }) => traffic.requests));

export async function benchSteady(report: Report): Promise<void> {
  report.note('steady state: two session timeouts long');
  const group = await groupOf(4, optionsFor(report.connect, 100), true);
  const before = group.map(({ traffic }) => traffic.requests);
  const started = now();
  await eventually(() => now() - started > 2 * SESSION_TIMEOUT, {
    timeout: 3 * SESSION_TIMEOUT,
    interval: 50,
  });
  const renewals = Math.ceil((now() - started) / (SESSION_TIMEOUT / 8) + 1);
  const requestsOf = (isLeading: boolean): number =>
    Math.max(
      ...group.map(({ coordinator: { isLeader }, traffic }, index) =>
        isLeader === isLeading ? traffic.requests - before[index]! : 0,
      ),
    );
  const basis = `renewals in ${2 * SESSION_TIMEOUT} ms`;
  // A renewal is one write and one look at our own registration; the leader looks at its latch too.
  report.add(
    {
      name: 'steady state, requests of the leader',
      measured: requestsOf(true),
      limit: renewals * 3,
      unit: 'requests',
      basis,
    },
    {
      name: 'steady state, requests of a follower',
      measured: requestsOf(false),
      limit: renewals * 2,
      unit: 'requests',
      basis: `${basis}; the most of three`,
    },
  );
  await closeAll(group);
}

export async function benchEventLoop(report: Report): Promise<void> {
  for (const total of [1_000, 100_000]) {
    report.note(`event loop during a join with ${total} shards`);
    const options = optionsFor(report.connect, total);
    const group = await processGroup(3, options);
    const all = [...group, await BenchProcess.connect('i3', options)];
    // Once to warm up: what counts is a process that has run for a while.
    const longest: number[] = [];
    for (let round = 0; round < 5; round++) {
      await Promise.all(all.map((instance) => instance.resetLoop()));
      await all[3]!.start();
      await atRest(all);
      longest.push(Math.max(...(await Promise.all(all.map((each) => each.longestBlock())))));
      await all[3]!.leave();
      await atRest(group);
    }
    report.add({
      name: `longest block of an event loop, join, ${total} shards`,
      measured: median(longest),
      limit: 50,
      unit: 'ms',
      basis: 'fixed',
    });
    await killAll(all);
  }
}

export async function benchMemory(report: Report): Promise<void> {
  report.note('memory');
  const options = optionsFor(report.connect, 100_000);
  const holder = await BenchProcess.connect('i0', options);
  const idle = await holder.memory();
  await holder.start();
  await atRest([holder]);
  const holding = await holder.memory();
  const second = await BenchProcess.connect('i1', optionsFor(report.connect, 10));
  const connected = await second.memory();
  await second.start();
  await atRest([second]);
  const taking = await second.memory();
  report.add(
    {
      name: 'memory of a held shard',
      measured: (holding.used - idle.used) / 100_000,
      limit: 1_000,
      unit: 'bytes',
      basis: 'fixed; of 100,000 held by one instance',
    },
    {
      name: 'memory of an instance with 10 shards',
      measured: Math.max(0, taking.used - connected.used) / 1_000,
      limit: 1_000,
      unit: 'KB',
      basis: 'fixed; code that is loaded later included',
    },
  );
  await killAll([holder, second]);
}

/** One of 16 after the other goes and comes back, as a deploy does it: with and without being waited for. */
export async function benchRollingRestart(report: Report): Promise<void> {
  const window = 60_000;
  await rollingRestart(report, 'nobody waited for');
  await rollingRestart(report, 'each waited for', { window, lends: false });
  await rollingRestart(report, 'shares lent meanwhile', { window, lends: true });
}

async function rollingRestart(
  report: Report,
  how: string,
  rejoin?: GroupOptions['rejoin'],
): Promise<void> {
  const size = 16;
  const total = 1_600;
  report.note(`rolling restart of ${size} instances, ${how}`);
  const options = { ...optionsFor(report.connect, total), ...(rejoin ? { rejoin } : {}) };
  const group = await groupOf(size, options);
  const isKept = rejoin?.lends === false;
  const watch = new OwnerWatch(total, group);
  for (let index = 0; index < size; index++) {
    const share = group[index]!.coordinator.items.length;
    await group[index]!.leave();
    const others = group.filter((_, other) => other !== index);
    await settled(others, isKept ? share : 0);
    await group[index]!.start();
    await settled(group);
  }
  watch.stop();
  report.add(
    {
      name: `rolling restart of ${size}, ${how}: moved`,
      measured: watch.moves,
      // Every leave gives away a share, and every return takes one of the others.
      limit: isKept ? 0 : 2 * total,
      unit: 'moves',
      basis: isKept ? 'nobody else gets anything' : `each of ${total} once away and once back`,
    },
    {
      name: '  longest time a shard had no owner',
      measured: watch.longestGap,
      unit: 'ms',
      basis: isKept
        ? 'none: as long as an instance is away'
        : `none: 16 share one process; its part is a leave, ${LEAVE.basis}`,
    },
  );
  await closeAll(group);
}

/** Asks every few milliseconds who owns what, and hears of each shard that gets another holder. */
class OwnerWatch {
  longestGap = 0;
  moves = 0;
  readonly #ownedAt: Float64Array;
  readonly #timer: NodeJS.Timeout;

  constructor(
    total: number,
    private readonly group: readonly BenchInstance[],
  ) {
    const holder = new Map<number, BenchInstance>();
    for (const instance of group) {
      for (const item of instance.coordinator.items) holder.set(item, instance);
      instance.onAcquired = (item) => {
        if (holder.get(item) !== instance) this.moves += 1;
        holder.set(item, instance);
      };
    }
    this.#ownedAt = new Float64Array(total).fill(now());
    this.#timer = setInterval(() => this.#look(), 2);
  }

  stop(): void {
    this.#look();
    clearInterval(this.#timer);
  }

  #look(): void {
    const at = now();
    for (const { coordinator } of this.group) {
      for (const item of coordinator.items) this.#ownedAt[item] = at;
    }
    for (const owned of this.#ownedAt) this.longestGap = Math.max(this.longestGap, at - owned);
  }
}
