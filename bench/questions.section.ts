/** What the application asks in its loops. */
import { setTimeout as sleep } from 'node:timers/promises';
import { shardOf } from '../lib/hash/shard-of.js';
import { closeAll, groupOf, optionsFor } from './instance.js';
import type { Report } from './report.js';
import { now } from './statistics.js';

const BITE = 500_000;
const BITES = 21;
const SHARDS = 1_000;

export async function benchQuestions(report: Report): Promise<void> {
  report.note('owns(), items and shardOf()');
  const group = await groupOf(1, optionsFor(report.connect, SHARDS));
  const { coordinator } = group[0]!;
  // What the loop itself costs is not theirs.
  const nothing = await measure(() => 1);
  const owns = await measure((call) => (coordinator.owns(call % SHARDS) ? 1 : 0));
  const items = await measure(() => (coordinator.items.length > 0 ? 1 : 0));
  const keys = Array.from({ length: SHARDS }, (_, index) => `order-${index}-of-customer-4711`);
  const shard = await measure((call) => (shardOf(keys[call % SHARDS]!, SHARDS) >= 0 ? 1 : 0));
  await closeAll(group);
  report.add(
    { name: 'owns()', measured: owns.time - nothing.time, limit: 100, unit: 'ns', basis: 'fixed' },
    {
      name: '  allocated a call',
      measured: owns.allocated,
      limit: 1,
      unit: 'bytes',
      basis: 'nothing but noise',
    },
    {
      name: 'items',
      measured: items.time - nothing.time,
      limit: 100,
      unit: 'ns',
      basis: 'fixed, as owns(): the array is made once a change',
    },
    {
      name: 'shardOf() of 27 characters',
      measured: shard.time - nothing.time,
      unit: 'ns',
      basis: 'none: a hash, as long as the key is',
    },
  );
}

/** In bites, between which the event loop turns: a lease that cannot be renewed would lapse. */
async function measure(
  ask: (call: number) => number,
): Promise<{ time: number; allocated: number }> {
  let answers = 0;
  const bite = (): number => {
    const started = now();
    for (let call = 0; call < BITE; call++) answers += ask(call);
    return ((now() - started) * 1e6) / BITE;
  };
  const times: number[] = [];
  let allocated = Infinity;
  for (let round = 0; round < BITES; round++) {
    const before = process.memoryUsage().heapUsed;
    times.push(bite());
    allocated = Math.min(allocated, Math.max(0, process.memoryUsage().heapUsed - before) / BITE);
    await sleep(5);
  }
  // One "no" would be enough: whoever holds nothing any more answers much faster.
  if (answers !== BITE * BITES) throw new Error('the answer was no: nothing was measured');
  // What else the machine does only adds to it.
  return { time: Math.min(...times), allocated };
}
