/**
 * Ordinary days: eight applications, joins, leaves, drains, reshards and changes of the total, and no
 * faults. Nothing may grow. `npm run soak -- --minutes 30 [--seed S]`; ends by itself, with 1 if
 * anything is amiss.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { encodeConfig, newConfig } from '../../lib/coordinator/group-config.js';
import { Keyspace } from '../../lib/coordinator/keyspace.js';
import { systemEnvironment } from '../../lib/registry/environment.js';
import { ANY_VERSION } from '../../lib/registry/registry.js';
import { ZooKeeperRegistry } from '../../lib/registry/zookeeper/index.js';
import { checkoutRoot } from '../kit/checkout.js';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import { type NodeProcess, spawnNode } from '../kit/processes.js';
import { SeededRandom } from '../kit/seeded-random.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import {
  type AppState,
  type Notes,
  type StoreUsage,
  storeUsageOf,
  type Usage,
} from './soak-usage.js';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const minutes = Number(options.minutes);
const seed = Number(options.seed);
if (!(minutes >= 1) || !Number.isInteger(seed)) {
  console.error('Usage: npm run soak -- [--minutes M (at least 1)] [--seed S (a whole number)]');
  process.exit(2);
}

const INSTANCES = 8;
/** The first of them stay for the whole run: theirs is the memory that is watched. */
const RESIDENTS = 5;
const SETTLING = 60_000;
const LONGEST_BLOCK = 50;
/**
 * The heap is what is reachable; resident memory is also what only the native client holds, and how much
 * of it the engine gives back varies more.
 */
const MEMORY_GROWTH = { heap: 1.1, rss: 1.2 };
/** How often each is asked for a measurement: the least of its resident memory counts. */
const SAMPLES = 6;
const COUNTED = ['timers', 'handles', 'listeners'] as const;
/** When the first measurement is taken: the engine goes on compiling for minutes, and keeps what it made. */
const WARM_UP = Math.min(10, minutes / 3) * 60_000;

const random = new SeededRandom(seed);
const namespace = uniqueNamespace('soak');
const events = new Map<string, number>();
const problems: string[] = [];
/** Whoever has been there, also if it has gone. */
const everyone: App[] = [];
let longestBlock = 0;
let starved = 0;

class App {
  private constructor(
    readonly id: string,
    private readonly child: NodeProcess,
  ) {}

  static async start(id: string, connect: string): Promise<App> {
    const script = join(checkoutRoot, 'test/soak/soak-app.ts');
    const child = await spawnNode(script, [id, connect, namespace], { nodeArgs: ['--expose-gc'] });
    const app = new App(id, child);
    everyone.push(app);
    await child.message<{ kind: string }>(({ kind }) => kind === 'open', { timeout: SETTLING });
    return app;
  }

  async ask<T>(command: string): Promise<T> {
    const answer = await this.child.ask<T & Notes>(command, SETTLING);
    problems.push(...answer.problems.map((problem) => `${this.id}: ${problem}`));
    longestBlock = Math.max(longestBlock, answer.longestBlock);
    starved = Math.max(starved, answer.starved);
    return answer;
  }

  async close(): Promise<void> {
    await this.ask('close');
    await eventually(() => !this.child.running, {
      timeout: SETTLING,
      label: `${this.id} has gone`,
    });
  }

  async end(): Promise<void> {
    await this.child.end('SIGKILL');
  }

  /** What it wrote to stderr: Nest's errors, or node's warnings. */
  get errors(): readonly string[] {
    return this.child.errors;
  }
}

const statesOf = (apps: readonly App[]): Promise<AppState[]> =>
  Promise.all(apps.map((app) => app.ask<AppState>('state')));

/** Everyone is ready or drained, all is held, one leads. */
async function atRest(apps: readonly App[]): Promise<void> {
  await eventually(
    async () => {
      const states = await statesOf(apps);
      const held = states.reduce((sum, { items }) => sum + items, 0);
      return (
        states.every(({ status }) => status === 'ready' || status === 'drained') &&
        held === states[0]!.total &&
        states.filter(({ isLeader }) => isLeader).length === 1
      );
    },
    { timeout: SETTLING, interval: 100, label: 'the group is at rest' },
  );
}

/** Everyone goes on working on its shards. */
async function atWork(apps: readonly App[]): Promise<void> {
  const before = await statesOf(apps);
  await eventually(
    async () => {
      const states = await statesOf(apps);
      return states.every(({ worked }, index) => worked > before[index]!.worked);
    },
    { timeout: SETTLING, interval: 100, label: 'everyone works on its shards' },
  );
}

/** One of the things that happen on ordinary days; the group is whole and at rest before and after. */
async function happen(apps: App[], connect: string, store: ZooKeeperRegistry): Promise<string> {
  const guest = RESIDENTS + random.below(INSTANCES - RESIDENTS);
  const resident = apps[random.below(RESIDENTS)]!;
  const kind = random.pick(['deploy', 'leave and join', 'drain', 'restart', 'reshard', 'total']);
  switch (kind) {
    case 'deploy':
      await apps[guest]!.close();
      apps[guest] = await App.start(apps[guest]!.id, connect);
      break;
    case 'leave and join':
      await apps[guest]!.close();
      await atRest(apps.filter((_, index) => index !== guest));
      apps[guest] = await App.start(`app-${guest}-${random.hex(6)}`, connect);
      break;
    case 'drain':
      await resident.ask('drain');
      await atRest(apps);
      await resident.ask('resume');
      break;
    case 'restart':
      await resident.ask('restart');
      break;
    case 'reshard':
      await resident.ask('reshard');
      break;
    case 'total': {
      const data = encodeConfig(newConfig(48 + random.below(32), 'sticky'));
      await store.set(new Keyspace(namespace).config, data, ANY_VERSION);
      break;
    }
  }
  await atRest(apps);
  return kind;
}

interface Measurement {
  readonly residents: readonly Usage[];
  /** Of the whole group: a leader has some that others have not, and there is always one. */
  readonly subscriptions: number;
  readonly store: StoreUsage;
}

/** Taken at the same total and at rest, so that two of them can be compared. */
async function measure(
  apps: readonly App[],
  server: ZooKeeperServer,
  store: ZooKeeperRegistry,
): Promise<Measurement> {
  const data = encodeConfig(newConfig(64, 'sticky'));
  await store.set(new Keyspace(namespace).config, data, ANY_VERSION);
  await eventually(async () => (await statesOf(apps)).every(({ total }) => total === 64), {
    timeout: SETTLING,
  });
  await atRest(apps);
  await atWork(apps);
  await sleep(2_000);
  // Again and again: what the first collection finds unreachable may hold on to more, and the engine
  // takes some tens of megabytes for a moment now and then.
  const samples: Usage[][] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    samples.push(await Promise.all(apps.map((app) => app.ask<Usage>('usage'))));
    await sleep(1_000);
  }
  const usages = samples.at(-1)!.map((last, index) => ({
    ...last,
    rss: Math.min(...samples.map((sample) => sample[index]!.rss)),
  }));
  return {
    residents: usages.slice(0, RESIDENTS),
    subscriptions: usages.reduce((sum, usage) => sum + usage.subscriptions, 0),
    store: storeUsageOf(await server.fourLetter('mntr')),
  };
}

function judge(before: Measurement, after: Measurement): void {
  before.residents.forEach((early, index) => {
    const late = after.residents[index]!;
    const name = `app-${index}`;
    for (const key of ['heap', 'rss'] as const) {
      if (late[key] > early[key] * MEMORY_GROWTH[key]) {
        problems.push(
          `${name}: ${key} from ${megabytes(early[key])} to ${megabytes(late[key])} MB`,
        );
      }
    }
    for (const key of COUNTED) {
      if (late[key] > early[key] + 2) {
        problems.push(`${name}: ${key} from ${early[key]} to ${late[key]}`);
      }
    }
  });
  if (after.subscriptions > before.subscriptions + 2) {
    problems.push(`subscriptions from ${before.subscriptions} to ${after.subscriptions}`);
  }
  for (const key of ['znodes', 'ephemerals', 'watches', 'connections'] as const) {
    // Whoever led before leaves watches behind that have not fired yet; they must not pile up.
    const allowed = key === 'watches' ? 2 * INSTANCES : 0;
    if (after.store[key] > before.store[key] + allowed) {
      problems.push(`the store: ${key} from ${before.store[key]} to ${after.store[key]}`);
    }
  }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

function tableOf(before: Measurement, after: Measurement): string {
  const row = (name: string, early: number | string, late: number | string): string =>
    `${name.padEnd(34)} ${String(early).padStart(10)} ${String(late).padStart(10)}`;
  const most = (measurement: Measurement, key: keyof Usage): number =>
    Math.max(...measurement.residents.map((usage) => usage[key]));
  return [
    row('the most of any resident', 'before', 'after'),
    row(
      'heap after collection, MB',
      megabytes(most(before, 'heap')),
      megabytes(most(after, 'heap')),
    ),
    row('resident memory, MB', megabytes(most(before, 'rss')), megabytes(most(after, 'rss'))),
    ...COUNTED.map((key) => row(key, most(before, key), most(after, key))),
    row('subscriptions in the group', before.subscriptions, after.subscriptions),
    ...(['znodes', 'ephemerals', 'watches', 'connections'] as const).map((key) =>
      row(`${key} in the store`, before.store[key], after.store[key]),
    ),
  ].join('\n');
}

console.log(`soak: ${minutes} minutes, seed ${seed}`);
const server = await ZooKeeperServer.start();
const store = new ZooKeeperRegistry({ connect: server.connect }, systemEnvironment());
await store.connect();
const apps: App[] = [];
const started = performance.now();
const end = started + minutes * 60_000;
let before: Measurement | undefined;
try {
  for (let index = 0; index < INSTANCES; index++) {
    apps.push(await App.start(`app-${index}`, server.connect));
  }
  await atRest(apps);
  let told = started;
  while (performance.now() < end) {
    const kind = await happen(apps, server.connect, store);
    events.set(kind, (events.get(kind) ?? 0) + 1);
    if (!before && performance.now() - started > WARM_UP) {
      before = await measure(apps, server, store);
      await Promise.all(apps.map((app) => app.ask('reset')));
      longestBlock = 0;
      starved = 0;
    }
    if (performance.now() - told > 30_000) {
      told = performance.now();
      const usages = await Promise.all(
        apps.slice(0, RESIDENTS).map((app) => app.ask<Usage>('usage')),
      );
      const heaps = usages.map(({ heap }) => megabytes(heap)).join(' ');
      const resident = usages.map(({ rss }) => megabytes(rss)).join(' ');
      const passed = ((told - started) / 60_000).toFixed(1);
      const happened = [...events.values()].reduce((sum, count) => sum + count, 0);
      console.log(
        `${passed} min, ${happened} events, heaps ${heaps} MB, resident ${resident} MB, ${problems.length} problems`,
      );
    }
    await sleep(random.below(2_000));
  }
  const after = await measure(apps, server, store);
  if (longestBlock > LONGEST_BLOCK) {
    problems.push(`an event loop was blocked for ${longestBlock.toFixed(0)} ms`);
  }
  judge(before!, after);
  console.log(tableOf(before!, after));
  for (const app of apps) await app.close();
} catch (error) {
  problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  for (const app of everyone) await app.end();
  await store.close();
  await server.close();
}
for (const app of everyone) problems.push(...app.errors.map((line) => `${app.id} wrote: ${line}`));
console.log(`events: ${[...events].map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
console.log(
  `longest turn of an event loop ${longestBlock.toFixed(1)} ms computing` +
    ` (${starved.toFixed(1)} ms without the processor)`,
);
for (const problem of problems) console.error(`PROBLEM ${problem}`);
console.log(problems.length === 0 ? 'nothing grew' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
