import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import type { NodeProcess } from '../kit/processes.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { endAll, heldBy, startSample, TAKE_OVER } from './samples.js';

const ALL = Array.from({ length: 12 }, (_, item) => item);
const sizes = (processes: readonly NodeProcess[]) => processes.map((one) => heldBy(one).length);
const union = (processes: readonly NodeProcess[]) =>
  processes.flatMap(heldBy).toSorted((a, b) => a - b);
const leaders = (processes: readonly NodeProcess[]) =>
  processes.filter(({ lines }) => lines.some((line) => line.includes('] leading, as ')));

describe('sample 01-basic', () => {
  const processes: NodeProcess[] = [];
  afterEach(() => endAll(processes));

  it('shares the items between three processes, and two take over from a killed one', async () => {
    const env = { ZOOKEEPER_CONNECT: sharedConnect(), NAMESPACE: uniqueNamespace('sample-basic') };
    for (let n = 0; n < 3; n += 1) processes.push(await startSample('01-basic', env));
    await eventually(() => expect(sizes(processes)).toEqual([4, 4, 4]), { timeout: 20_000 });
    expect(union(processes)).toEqual(ALL);
    await eventually(() => expect(leaders(processes)).toHaveLength(1));

    const [killed] = leaders(processes);
    await killed!.end('SIGKILL');
    const others = processes.filter((process) => process !== killed);
    await eventually(
      () => {
        expect(sizes(others)).toEqual([6, 6]);
        expect(union(others)).toEqual(ALL);
        expect(leaders(others)).toHaveLength(1);
      },
      { timeout: TAKE_OVER },
    );

    // Either way of leaving in good order hands everything over, without waiting for a session to end.
    const [one, other] = others;
    expect(await one!.end('SIGINT')).toEqual({ code: 0, signal: null });
    await eventually(() => expect(heldBy(other!)).toEqual(ALL));
    expect(await other!.end('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
  }, 60_000);

  it('runs on its own without ZooKeeper, and says so', async () => {
    const process = await startSample('01-basic', { NAMESPACE: 'alone' });
    processes.push(process);
    await process.line(/memory registry, this process is on its own/);
    await eventually(() => expect(heldBy(process)).toEqual(ALL));
    await process.line(/customer-42 belongs to shard \d+, mine/);
    expect(await process.end('SIGINT')).toEqual({ code: 0, signal: null });
  });
});
