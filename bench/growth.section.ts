/**
 * How time, requests and bytes grow with instances and shards. All instances live in this process, each
 * with its own connection: with 64 of them the time is mostly that of one event loop doing the work of
 * 64 machines. So it stands beside its limit without being judged; requests, bytes and moves are those
 * of production, and are.
 */
import { encodeConfig, newConfig } from '../lib/coordinator/group-config.js';
import { Keyspace } from '../lib/coordinator/keyspace.js';
import { ANY_VERSION } from '../lib/registry/registry.js';
import { eventually } from '../test/kit/eventually.js';
import {
  BenchInstance,
  closeAll,
  type GroupOptions,
  optionsFor,
  type RoundTrips,
  settled,
} from './instance.js';
import {
  crashLimit,
  HAND_OVER,
  JOIN,
  LEAVE,
  requestLimit,
  type TimeLimit,
  TOTAL,
} from './limits.js';
import type { GrowthRow, Report } from './report.js';
import { median, now, sum } from './statistics.js';
import type { Traffic } from './traffic.js';

const SIZES = [4, 16, 64];
const SHARDS = [10, 1_000, 100_000];
/** One event loop that does the work of 64 machines must not starve its own leases. */
const PATIENT_SESSION = 12_000;
/** The times of the first one are those of code that is not compiled yet. */
const ROUNDS = 3;
/** When nothing but renewals was sent for that long, an event is over. */
const QUIET = 200;

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

interface Event {
  readonly limit: (options: GroupOptions) => TimeLimit;
  readonly run: (world: World) => Promise<Outcome>;
  /** Makes the group what it was before, which is no part of the event. */
  readonly restore?: (world: World) => Promise<void>;
  /** Whose requests are counted. @default everybody's */
  readonly counted?: (world: World) => readonly BenchInstance[];
}

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
  readonly trips: RoundTrips;
  readonly medians: ReadonlyMap<string, number>;
}

/** Without the proxies that count, since they cost time. */
async function timesOf(connect: string, size: number, total: number): Promise<Times> {
  const world = await newWorld(connect, size, total, false);
  const trips = await world.group[0]!.roundTrips();
  const times = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, event] of Object.entries(ORDERLY)) {
      times.set(name, [...(times.get(name) ?? []), (await event.run(world)).time]);
      await event.restore?.(world);
    }
  }
  await closeAll([world.extra, ...world.group]);
  const medians = new Map([...times].map(([name, values]) => [name, median(values)]));
  return { trips, medians };
}

async function countsOf(
  connect: string,
  size: number,
  total: number,
  { trips, medians }: Times,
): Promise<GrowthRow[]> {
  const world = await newWorld(connect, size, total, true);
  const renewalBytes = await bytesOfRenewal(world.group);
  const rows: GrowthRow[] = [];
  for (const [name, event] of Object.entries({ ...ORDERLY, crash })) {
    if (event === crash) await joined(world);
    const counted = event.counted?.(world) ?? [...world.group, world.extra];
    const before = await trafficAtRest(counted);
    const { time, moved, fewestMoves } = await event.run(world);
    const traffic = difference(await trafficAtRest(counted), before);
    await event.restore?.(world);
    const limit = event.limit(world.options);
    rows.push({
      event: name,
      instances: size,
      shards: total,
      milliseconds: medians.get(name) ?? time,
      limit: limit.of(trips),
      basis: limit.basis,
      requests: traffic.requests - traffic.ofRenewals,
      requestLimit: requestLimit(size),
      kilobytes: (traffic.bytes - traffic.renewals * renewalBytes) / 1_000,
      moved,
      fewestMoves,
    });
  }
  await closeAll([world.extra, ...world.group]);
  return rows;
}

const ORDERLY: Record<string, Event> = {
  join: {
    limit: () => JOIN,
    run: async ({ group, extra, total }) => {
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
  },

  'graceful leave': {
    limit: () => LEAVE,
    run: async ({ group, extra }) => {
      const before = acquiredBy(group);
      const fewestMoves = extra.coordinator.items.length;
      const left = await extra.leave();
      await settled(group);
      const time = lastAcquired(group, left) - left;
      return { time, moved: acquiredBy(group) - before, fewestMoves };
    },
  },

  'hand-over': {
    limit: () => HAND_OVER,
    run: async ({ group }) => {
      const leader = group.find(({ coordinator }) => coordinator.isLeader)!;
      const heirs = group.filter((instance) => instance !== leader);
      const before = acquiredBy(heirs);
      const fewestMoves = leader.coordinator.items.length;
      await leader.leave();
      await settled(heirs);
      const led = Math.max(...heirs.map(({ moments }) => moments.lastLeading));
      const time = led - leader.moments.lastLeaderLost;
      return { time, moved: acquiredBy(heirs) - before, fewestMoves };
    },
    restore: async ({ group }) => {
      await group.find(({ coordinator }) => coordinator.status === 'closed')!.start();
      await settled(group);
    },
  },

  'total changed': {
    limit: () => TOTAL,
    run: async ({ group, options, total }) => {
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
  },
};

async function joined({ group, extra }: World): Promise<void> {
  await extra.start();
  await settled([...group, extra]);
}

/** Cut off from one moment to the next, as a machine that fails; it has to take part before. */
const crash: Event = {
  limit: ({ sessionTimeout }) => crashLimit(sessionTimeout),
  run: async ({ group, extra }) => {
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
    return { time, moved: acquiredBy(group) - before, fewestMoves };
  },
  restore: ({ extra }) => extra.restore(),
  counted: ({ group }) => group,
};

const acquiredBy = (group: readonly BenchInstance[]): number =>
  sum(group.map(({ moments }) => moments.acquired));
/** When nothing had to move, nothing took any time. */
const lastAcquired = (group: readonly BenchInstance[], since: number): number =>
  Math.max(since, ...group.map(({ moments }) => moments.lastAcquired));

/** What all of them have sent and got, as soon as they do nothing but renew their leases. */
async function trafficAtRest(group: readonly BenchInstance[]): Promise<Traffic> {
  let last = trafficOf(group);
  let since = now();
  await eventually(
    () => {
      const traffic = trafficOf(group);
      const { requests, ofRenewals } = difference(traffic, last);
      if (requests !== ofRenewals) since = now();
      last = traffic;
      return now() - since > QUIET;
    },
    { timeout: 60_000, interval: 20, label: 'nothing but renewals' },
  );
  return last;
}

/** Its requests and their answers, which go on whatever else happens. */
async function bytesOfRenewal(group: readonly BenchInstance[]): Promise<number> {
  const before = await trafficAtRest(group);
  const enough = before.renewals + 2 * group.length;
  await eventually(() => trafficOf(group).renewals >= enough, { timeout: 60_000, interval: 20 });
  const { bytes, renewals } = difference(await trafficAtRest(group), before);
  return bytes / renewals;
}

function trafficOf(group: readonly BenchInstance[]): Traffic {
  const all = group.map(({ traffic }) => traffic);
  return {
    requests: sum(all.map(({ requests }) => requests)),
    renewals: sum(all.map(({ renewals }) => renewals)),
    ofRenewals: sum(all.map(({ ofRenewals }) => ofRenewals)),
    bytes: sum(all.map(({ bytes }) => bytes)),
  };
}

function difference(after: Traffic, before: Traffic): Traffic {
  return {
    requests: after.requests - before.requests,
    renewals: after.renewals - before.renewals,
    ofRenewals: after.ofRenewals - before.ofRenewals,
    bytes: after.bytes - before.bytes,
  };
}
