import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { planOf } from '../../test/kit/plans.js';
import { Keyspace } from './keyspace.js';
import { encodePlan } from './plan-codec.js';
import { SeedView } from './seed-view.js';

const keyspace = new Keyspace('group');

let world: MemoryWorld;
let client: WorldClient;
let view: SeedView;

beforeEach(async () => {
  world = new MemoryWorld();
  client = await world.client();
  await world.put(keyspace.plan, encodePlan(planOf('')).toString('latin1'));
  view = viewOf(client);
});

function viewOf({ registry, environment, session }: WorldClient, id = 'a'): SeedView {
  const options = { id, incarnation: `${id}1`, session };
  return new SeedView(registry, environment, keyspace, options);
}

async function show(...args: Parameters<typeof planOf>): Promise<void> {
  view.show(planOf(...args));
  await world.time.settle();
}

async function holders(): Promise<Record<string, string>> {
  const items = await world.children(keyspace.plan);
  const entries = items.map(async (item) => {
    const holder = await world.read(keyspace.itemInstance(Number(item)));
    return [item, holder ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const writes = (): string[] =>
  client.requests.splice(0).filter((request) => /^(create|set|delete)/.test(request));

describe('the view for the original system’s tools', () => {
  it('shows who leads, in a node that dies with the leader', async () => {
    await show('a1:5');
    expect(await world.read(keyspace.leader)).toBe('a');
    client.registry.link.expire();
    await world.time.settle();
    expect(await world.read(keyspace.leader)).toBeUndefined();
  });

  it('shows who holds what', async () => {
    await show('a1:5 b1:5 -');
    expect(await holders()).toEqual({ 0: 'a', 1: 'b' });
  });

  it('writes differences only', async () => {
    await show('a1:5 b1:5 b1:5');
    writes();
    await show('a1:5 a1:7 b1:5');
    expect(writes()).toEqual([`set ${keyspace.itemInstance(1)}`]);
    await show('a1:5 a1:7 b1:5', { epoch: 9 });
    expect(writes()).toEqual([]);
  });

  it('names nobody where nobody holds the item any more', async () => {
    await show('a1:5 b1:5');
    await show('a1:5 -');
    expect(await world.read(keyspace.itemInstance(1))).toBeUndefined();
    writes();
    await show('a1:5 -', { epoch: 9 });
    expect(writes()).toEqual([]);
    await show('a1:5 a1:9');
    expect(await holders()).toEqual({ 0: 'a', 1: 'a' });
  });

  it('starts from what a former leader wrote', async () => {
    await show('a1:5 b1:5');
    view.close();
    client = await world.client();
    view = viewOf(client, 'b');
    await show('a1:5 b1:5');
    expect(writes().filter((request) => request.includes(keyspace.plan))).toEqual([]);
    expect(await world.read(keyspace.leader)).toBe('b');
  });

  it('removes items that are none any more', async () => {
    await show('a1:5 b1:5 b1:5');
    await show('a1:7');
    expect(await holders()).toEqual({ 0: 'a' });
  });

  it('shows that a rebalance is under way, and asks nobody for one by that', async () => {
    await show('a1:5!6', { settled: false });
    expect(await world.read(keyspace.processing)).toBe('');
    const necessary = await (await world.operator()).get(keyspace.necessary);
    expect(view.isOurs(necessary)).toBe(true);
    await show('a1:7');
    expect(await world.read(keyspace.processing)).toBeUndefined();
    expect(await world.read(keyspace.necessary)).toBeUndefined();
  });

  it('tells somebody’s request from its own', async () => {
    await world.put(keyspace.necessary, '');
    const request = await (await world.operator()).get(keyspace.necessary);
    expect(view.isOurs(request)).toBe(false);
    expect(viewOf(client, 'b').isOurs({ ...request, data: Buffer.from('a1') })).toBe(false);
  });

  it('never deletes, or hides, a request that somebody made meanwhile', async () => {
    await show('a1:5!6', { settled: false });
    await world.put(keyspace.necessary, '');
    await show('a1:7');
    expect(await world.read(keyspace.necessary)).toBe('');
    await show('a1:7!8', { settled: false });
    expect(await world.read(keyspace.necessary)).toBe('');
    expect(await world.read(keyspace.processing)).toBe('');
  });

  it('removes what a leader before left of a rebalance that is over', async () => {
    await world.put(keyspace.processing, '', 'ephemeral');
    await show('a1:7');
    expect(await world.read(keyspace.processing)).toBeUndefined();
  });

  it('replaces the ephemeral nodes of a former leader', async () => {
    await world.put(keyspace.leader, 'z', 'ephemeral');
    await show('a1:5');
    expect(await world.read(keyspace.leader)).toBe('a');
    const stat = await (await world.operator()).exists(keyspace.leader);
    expect(stat?.owner).toBe(client.session);
  });

  it('does not show groups that are too large', async () => {
    await show(Array.from({ length: 1_001 }, () => 'a1:5').join(' '));
    expect(await holders()).toEqual({});
    expect(await world.read(keyspace.leader)).toBe('a');
  });

  it('shows the last of several plans that come at once', async () => {
    view.show(planOf('a1:5'));
    view.show(planOf('b1:6'));
    await world.time.settle();
    expect(await holders()).toEqual({ 0: 'b' });
    expect(writes().filter((request) => request.includes('/0'))).toHaveLength(2);
  });

  it.each(['loseNextRequest', 'loseNextAnswer'] as const)(
    'is right again with the plan after a failure: %s',
    async (fault) => {
      for (let writesBefore = 0; writesBefore < 6; writesBefore++) {
        await show('a1:5 b1:5 b1:5', { settled: true, epoch: 10 + writesBefore });
        let count = 0;
        const { registry } = client;
        const send = registry.link.send.bind(registry.link);
        registry.link.send = (request) => {
          const isWrite = ['create', 'set', 'delete'].includes(request.command.kind);
          if (isWrite && count++ === writesBefore) registry.link[fault]();
          send(request);
        };
        await show('a1:5 b1:5!6 b1:5', { settled: false });
        registry.link.send = send;
        await show('a1:5 a1:7 b1:5');
        expect(await holders()).toEqual({ 0: 'a', 1: 'a', 2: 'b' });
        await show('a1:5 a1:7 b1:5');
        expect(await world.read(keyspace.processing)).toBeUndefined();
        expect(await world.read(keyspace.necessary)).toBeUndefined();
      }
      expect(client.logged.every((line) => line.startsWith('debug'))).toBe(true);
    },
  );

  it('writes nothing after its close', async () => {
    view.show(planOf('a1:5'));
    view.close();
    await world.time.settle();
    expect(writes()).toEqual([]);
  });
});
