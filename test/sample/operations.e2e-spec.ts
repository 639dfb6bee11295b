import { afterEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { checkoutRoot } from '../kit/checkout.js';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import type { NodeProcess } from '../kit/processes.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { endAll, heldBy, type SampleEnvironment, startApp, startSample } from './samples.js';

const OPERATOR = join(checkoutRoot, 'sample/04-operations/src/operator.ts');
const SETTINGS: Record<string, Record<string, string>> = {
  ada: { ZONE: 'a', WEIGHT: '2' },
  ben: { ZONE: 'a' },
  cleo: { ZONE: 'b' },
  dora: { ZONE: 'b' },
};
const IDS = Object.keys(SETTINGS);
/** Starting processes takes most of it. */
const PATIENCE = { timeout: 60_000 };

const upTo = (total: number) => Array.from({ length: total }, (_, item) => item);
const count = ({ lines }: NodeProcess, text: string) =>
  lines.filter((line) => line.includes(text)).length;

describe('sample 04-operations', () => {
  const processes: NodeProcess[] = [];
  const instances = new Map<string, NodeProcess>();
  let env: SampleEnvironment;
  afterEach(() => endAll(processes));

  async function start(id: string): Promise<void> {
    const process = await startSample('04-operations', {
      ...env,
      ...SETTINGS[id],
      ID: id,
      REJOIN_WINDOW: '120000',
    });
    processes.push(process);
    instances.set(id, process);
  }

  const held = (id: string) => heldBy(instances.get(id)!);
  const loads = () => IDS.map((id) => held(id).length);
  const zones = () => [
    held('ada').length + held('ben').length,
    held('cleo').length + held('dora').length,
  ];
  const grants = (ids = IDS) =>
    ids.map((id) => count(instances.get(id)!, '] got shard ')).reduce((sum, one) => sum + one, 0);
  const released = (id: string, reason: string) => count(instances.get(id)!, `: ${reason}`);

  /** Each shard is held by one, of as many as there are. */
  function assertAllHeld(total: number): void {
    expect(IDS.flatMap(held).toSorted((a, b) => a - b)).toEqual(upTo(total));
  }

  it('does what an operator wants while it runs', async () => {
    // Nobody is killed, so nothing waits for a session; a busy machine is given all the time it takes.
    env = {
      ZOOKEEPER_CONNECT: sharedConnect(),
      NAMESPACE: uniqueNamespace('sample-operations'),
      SESSION_TIMEOUT: '20000',
    };
    for (const id of IDS) await start(id);
    await eventually(() => {
      assertAllHeld(10);
      expect(loads()).toEqual([4, 2, 2, 2]);
    }, PATIENCE);

    // Who comes back in time has what it had, and nobody else has had it.
    const before = held('ben');
    const others = IDS.filter((id) => id !== 'ben');
    const grantsOfOthers = grants(others);
    await instances.get('ben')!.end('SIGTERM');
    expect(released('ben', 'shutdown')).toBe(2);
    await start('ben');
    await eventually(() => expect(held('ben')).toEqual(before), PATIENCE);
    expect(grants(others)).toBe(grantsOfOthers);

    const operator = await startApp(OPERATOR, env);
    processes.push(operator);
    await operator.line(/to begin with: ada 4, ben 2, cleo 2, dora 2/, PATIENCE);
    const step = (done: RegExp) => {
      operator.send('');
      return operator.line(done, PATIENCE);
    };

    await step(/as much as the others: .*\d$/);
    await eventually(() => {
      assertAllHeld(10);
      expect(loads().toSorted((a, b) => a - b)).toEqual([2, 2, 3, 3]);
    }, PATIENCE);
    expect(released('ada', 'rebalance')).toBeGreaterThan(0);

    const moved = grants();
    await step(/gets a parameter: /);
    expect(grants()).toBe(moved);

    await step(/there are 14 shards: ada 4, ben 4, cleo 3, dora 3/);
    await eventually(() => {
      assertAllHeld(14);
      expect(loads()).toEqual([4, 4, 3, 3]);
    }, PATIENCE);
    expect(released('ada', 'total-changed')).toBeGreaterThan(0);
    const holder = instances.get(IDS.find((id) => held(id).includes(3))!)!;
    expect(count(holder, 'got shard 3 with {"region":"eu"}')).toBe(1);

    const unspread = grants();
    await step(/spread over zones: /);
    await eventually(() => {
      assertAllHeld(14);
      expect(zones()).toEqual([7, 7]);
    }, PATIENCE);
    expect(grants()).toBe(unspread + 1);

    const share = held('dora').length;
    await step(/dora is drained: .*dora 0/);
    await eventually(() => {
      assertAllHeld(14);
      expect(held('dora')).toEqual([]);
    }, PATIENCE);
    expect(released('dora', 'drain')).toBe(share);

    await step(/dora is back: /);
    await eventually(() => {
      assertAllHeld(14);
      expect(zones()).toEqual([7, 7]);
      expect(held('dora').length).toBeGreaterThanOrEqual(3);
    }, PATIENCE);

    // All of this happened to the same processes, and none of them has complained.
    await eventually(() => expect(operator.running).toBe(false), PATIENCE);
    expect(await operator.exited).toEqual({ code: 0, signal: null });
    expect(IDS.map((id) => instances.get(id)!.running)).toEqual([true, true, true, true]);
    expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
  }, 300_000);

  it('runs on its own without ZooKeeper, and says so', async () => {
    const process = await startSample('04-operations', { NAMESPACE: 'alone' });
    processes.push(process);
    await process.line(/memory registry, this process is on its own/);
    await eventually(() => expect(heldBy(process)).toEqual(upTo(10)));
    await process.end('SIGINT');
    expect(process.errors).toEqual([]);
  });
});
