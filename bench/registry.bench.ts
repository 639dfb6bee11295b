/**
 * How fast the memory registry is, on one core: simulations are made of it. Each figure is the best of
 * several rounds, with as many operations under way as a busy client has; `one by one` awaits each.
 */
import { MemoryCluster, type MemoryRegistry } from '../lib/registry/memory/index.js';
import { ANY_VERSION } from '../lib/registry/registry.js';

const TARGET = 200_000;
const ROUNDS = 5;
const OPERATIONS = 100_000;
const UNDER_WAY = 100;

const data = Buffer.from('some data of a usual size, such as a member writes about itself');

interface Case {
  readonly name: string;
  /** Plain operations have to reach the target. */
  readonly plain: boolean;
  /** How many operations of the registry one call does. */
  readonly weight: number;
  readonly run: (registry: MemoryRegistry, index: number) => Promise<unknown>;
}

const cases: readonly Case[] = [
  { name: 'get', plain: true, weight: 1, run: (registry) => registry.get('/bench/node') },
  { name: 'exists', plain: true, weight: 1, run: (registry) => registry.exists('/bench/node') },
  {
    name: 'set',
    plain: true,
    weight: 1,
    run: (registry) => registry.set('/bench/node', data, ANY_VERSION),
  },
  {
    name: 'create + delete',
    plain: true,
    weight: 2,
    run: (registry, index) => {
      const path = `/bench/node-${index % UNDER_WAY}`;
      return Promise.all([registry.create(path, data), registry.delete(path, 0)]);
    },
  },
  {
    name: 'watched set',
    plain: false,
    weight: 1,
    run: (registry) => registry.set('/bench/watched', data, ANY_VERSION),
  },
];

async function measure({ run, weight }: Case, underWay: number): Promise<number> {
  const cluster = new MemoryCluster();
  const registry = cluster.registry();
  const watcher = cluster.registry();
  await Promise.all([registry.connect(), watcher.connect()]);
  await registry.create('/bench/node', data, { parents: true });
  await registry.create('/bench/watched', data);
  let seen = -1;
  const view = watcher.watch('/bench/watched').subscribe((node) => (seen = node!.stat.version));
  const started = performance.now();
  for (let done = 0; done < OPERATIONS / weight; done += underWay) {
    const calls = Array.from({ length: underWay }, (_, index) => run(registry, index));
    await Promise.all(calls);
  }
  const elapsed = performance.now() - started;
  await watcher.sync('/bench/watched');
  const { stat } = await watcher.get('/bench/watched');
  if (seen !== stat.version) throw new Error(`the view shows ${seen} instead of ${stat.version}`);
  view.unsubscribe();
  await Promise.all([registry.close(), watcher.close()]);
  return (OPERATIONS / elapsed) * 1_000;
}

async function best(one: Case, underWay: number): Promise<number> {
  let rate = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    rate = Math.max(rate, await measure(one, underWay));
  }
  return rate;
}

const format = (rate: number): string => Math.round(rate).toLocaleString('en').padStart(10);

console.log(`memory registry, operations per second (node ${process.version})`);
console.log(`${'operation'.padEnd(18)}${'100 under way'.padStart(16)}${'one by one'.padStart(14)}`);
let isFastEnough = true;
for (const one of cases) {
  const many = await best(one, UNDER_WAY);
  const single = await best(one, 1);
  console.log(`${one.name.padEnd(18)}${format(many).padStart(16)}${format(single).padStart(14)}`);
  if (one.plain && many < TARGET) isFastEnough = false;
}
console.log(`${isFastEnough ? 'reached' : 'MISSED'}: ${format(TARGET).trim()} plain operations`);
process.exitCode = isFastEnough ? 0 : 1;
