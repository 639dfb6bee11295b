/**
 * How time, requests and bytes grow with instances and shards. All instances live in this process, each
 * with its own connection: with 64 of them the time is mostly that of one event loop doing the work of
 * 64 machines, so it is an upper bound; requests and bytes are those of production.
 */
import { encodeConfig, newConfig } from '../lib/coordinator/group-config.js';
import { Keyspace } from '../lib/coordinator/keyspace.js';
import { ANY_VERSION } from '../lib/registry/registry.js';
import { eventually } from '../test/kit/eventually.js';
import { BenchInstance, closeAll, type GroupOptions, optionsFor, settled } from './instance.js';
import type { GrowthRow, Report } from './report.js';
import { median, now, sum } from './statistics.js';

const SIZES = [4, 16, 64];
const SHARDS = [10, 1_000, 100_000];
/** One event loop that does the work of 64 machines must not starve its own leases. */
const PATIENT_SESSION = 12_000;
/** The times of the first one are those of code that is not compiled yet. */
const ROUNDS = 3;

/** A group whose members are all there but for the last, which comes, goes and crashes. */
interface World {
  readonly group: BenchInstance[];
  readonly extra: BenchInstance;
  readonly options: GroupOptions;
  readonly total: number;
}

interface Outcome {
  readonly time: number;
  readonly moved: number;
  readonly fewestMoves: number;
}

type Event = (world: World) => Promise<Outcome>;

export async function benchGrowth(report: Report): Promise<void> {
  for (const size of SIZES) {
    for (const shards of SHARDS) {
      report.note(`growth: ${size} instances, ${shards} shards`);
      const times = await timesOf(report.connect, size, shards);
      report.growth.push(...(await countsOf(report.connect, size, shards, times)));
    }
  }
}

async function newWorld(
  connect: string,
  size: number,
  total: number,
  isCounted: boolean,
): Promise<World> {
  const options = optionsFor(connect, total, size > 16 ? PATIENT_SESSION : undefined);
  const group = await Promise.all(
    Array.from({ length: size - 1 }, (_, index) =>
      BenchInstance.connect(`i${index}`, options, isCounted),
    ),
  );
  const extra = await BenchInstance.connect('x', options, isCounted);
  await Promise.all(group.map((instance) => instance.start()));
  await settled(group);
  return { group, extra, options, total };
}

interface Times {
  readonly trip: number;
  readonly medians: ReadonlyMap<string, number>;
}

/** Without the proxies that count, since they cost time. */
async function timesOf(connect: string, size: number, total: number): Promise<Times> {
  const world = await newWorld(connect, size, total, false);
  const { write, read } = await world.group[0]!.roundTrips();
  const times = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [event, run] of Object.entries(ORDERLY)) {
      times.set(event, [...(times.get(event) ?? []), (await run(world)).time]);
    }
  }
  await closeAll([world.extra, ...world.group]);
  const medians = new Map([...times].map(([event, values]) => [event, median(values)]));
  return { trip: (write + read) / 2, medians };
}

async function countsOf(
  connect: string,
  size: number,
  total: number,
  { trip, medians }: Times,
): Promise<GrowthRow[]> {
  const world = await newWorld(connect, size, total, true);
  const rows: GrowthRow[] = [];
  for (const [event, run] of Object.entries({ ...ORDERLY, crash })) {
    const all = [...world.group, world.extra];
    if (run === crash) {
      await world.extra.start();
      await settled(all);
    }
    const traffic = await TrafficCount.begin(all);
    const { time, moved, fewestMoves } = await run(world);
    const { requests, bytes } = traffic.end();
    const milliseconds = medians.get(event) ?? time;
    rows.push({
      event,
      instances: size,
      shards: total,
      milliseconds,
      roundTrips: milliseconds / trip,
      requests,
      kilobytes: bytes / 1_000,
      moved,
      fewestMoves,
    });
  }
  await closeAll([world.extra, ...world.group]);
  return rows;
}

const ORDERLY: Record<string, Event> = {
  join: async ({ group, extra, total }) => {
    const all = [...group, extra];
    const before = acquiredBy(all);
    const completed = extra.moments.completed;
    const started = await extra.start();
    await eventually(() => extra.moments.completed > completed, { timeout: 60_000, interval: 5 });
    await settled(all);
    const last = Math.max(...all.map(({ moments }) => moments.lastCompleted));
    const fewestMoves = Math.floor(total / all.length);
    return { time: last - started, moved: acquiredBy(all) - before, fewestMoves };
  },

  'graceful leave': async ({ group, extra }) => {
    const before = acquiredBy(group);
    const fewestMoves = extra.coordinator.items.length;
    const left = await extra.leave();
    await settled(group);
    return {
      time: lastAcquired(group, left) - left,
      moved: acquiredBy(group) - before,
      fewestMoves,
    };
  },

  'hand-over': async ({ group }) => {
    const leader = group.find(({ coordinator }) => coordinator.isLeader)!;
    const heirs = group.filter((instance) => instance !== leader);
    const before = acquiredBy(heirs);
    const fewestMoves = leader.coordinator.items.length;
    await leader.leave();
    await settled(heirs);
    const time =
      Math.max(...heirs.map(({ moments }) => moments.lastLeading)) - leader.moments.lastLeaderLost;
    const moved = acquiredBy(heirs) - before;
    await leader.start();
    await settled(group);
    return { time, moved, fewestMoves };
  },

  'total changed': async ({ group, options, total }) => {
    const before = acquiredBy(group);
    const changed = group[0]!.coordinator.total === total ? total + 1 : total;
    const started = now();
    const data = encodeConfig(newConfig(changed, 'sticky'));
    await group[0]!.registry.set(new Keyspace(options.namespace).config, data, ANY_VERSION);
    await eventually(() => group.every(({ coordinator }) => coordinator.total === changed), {
      timeout: 60_000,
      interval: 5,
    });
    await settled(group);
    const moved = acquiredBy(group) - before;
    return { time: lastAcquired(group, started) - started, moved, fewestMoves: changed };
  },
};

/** Cut off from one moment to the next, as a machine that fails; it has to take part before. */
async function crash({ group, extra }: World): Promise<Outcome> {
  const before = acquiredBy(group);
  const fewestMoves = extra.coordinator.items.length;
  const crashed = now();
  await extra.cut();
  const expected = group[0]!.coordinator.total;
  await eventually(
    () => sum(group.map(({ coordinator }) => coordinator.items.length)) === expected,
    { timeout: 60_000, interval: 5, label: 'all is held again' },
  );
  const time = lastAcquired(group, crashed) - crashed;
  await extra.restore();
  return { time, moved: acquiredBy(group) - before, fewestMoves };
}

const acquiredBy = (group: readonly BenchInstance[]): number =>
  sum(group.map(({ moments }) => moments.acquired));
/** When nothing had to move, nothing took any time. */
const lastAcquired = (group: readonly BenchInstance[], since: number): number =>
  Math.max(since, ...group.map(({ moments }) => moments.lastAcquired));

/** Requests and bytes over what the group needs at rest, which is measured just before. */
class TrafficCount {
  private constructor(
    private readonly group: readonly BenchInstance[],
    private readonly rate: { requests: number; bytes: number },
    private readonly since: number,
    private readonly before: { requests: number; bytes: number },
  ) {}

  static async begin(group: readonly BenchInstance[]): Promise<TrafficCount> {
    const started = now();
    const before = trafficOf(group);
    await eventually(() => now() - started > 1_000, { interval: 50 });
    const after = trafficOf(group);
    const passed = now() - started;
    const rate = {
      requests: (after.requests - before.requests) / passed,
      bytes: (after.bytes - before.bytes) / passed,
    };
    return new TrafficCount(group, rate, now(), after);
  }

  end(): { requests: number; bytes: number } {
    const passed = now() - this.since;
    const after = trafficOf(this.group);
    return {
      requests: Math.max(
        0,
        Math.round(after.requests - this.before.requests - passed * this.rate.requests),
      ),
      bytes: Math.max(0, after.bytes - this.before.bytes - passed * this.rate.bytes),
    };
  }
}

function trafficOf(group: readonly BenchInstance[]): { requests: number; bytes: number } {
  const traffic = group.map((instance) => instance.traffic);
  return {
    requests: sum(traffic.map(({ requests }) => requests)),
    bytes: sum(traffic.map(({ bytes }) => bytes)),
  };
}
