import { beforeEach, describe, expect, it } from '@jest/globals';
import { Recording } from '../../test/conformance/recording.js';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { planOf, putPlan } from '../../test/kit/plans.js';
import { memberIndex, shareOf } from './plan.js';
import { encodePlan } from './plan-codec.js';
import { NoAuthError } from '../registry/registry.errors.js';
import { addressed, PlanStore } from './plan-store.js';

const PATH = '/group/sharding';

let world: MemoryWorld;
let client: WorldClient;
let store: PlanStore;

beforeEach(async () => {
  world = new MemoryWorld();
  client = await world.client();
});

const open = async (): Promise<Recording<{ kind: string }>> => {
  store = new PlanStore(client.registry, client.environment, PATH);
  const seen = new Recording(store.state$);
  await world.time.settle();
  return seen;
};

const write = async (epoch: number) =>
  putPlan(await world.operator(), PATH, planOf('a1:2', { epoch }));

describe('PlanStore', () => {
  it('knows nothing, then that there is none, then each plan', async () => {
    const seen = await open();
    await write(5);
    await world.time.settle();
    await write(6);
    await world.time.settle();
    expect(seen.values.map(({ kind }) => kind)).toEqual(['unknown', 'absent', 'plan', 'plan']);
    expect(store.plan?.epoch).toBe(6);
    expect(store.state).toMatchObject({ kind: 'plan', version: 1 });
  });

  it('tells garbage from a newer format', async () => {
    await world.put(PATH, 'garbage');
    await open();
    expect(store.state).toMatchObject({ kind: 'unreadable', isNewer: false, version: 0 });
    expect(store.plan).toBeUndefined();
    const newer = encodePlan(planOf('a1:5'));
    newer[3] = 9;
    await (await world.operator()).set(PATH, newer, -1);
    await world.time.settle();
    expect(store.state).toMatchObject({ kind: 'unreadable', isNewer: true, version: 1 });
  });

  it('knows our own write before it is read back, and does not go back', async () => {
    await write(5);
    await open();
    client.registry.link.delay(100);
    const { plan, stat } = await write(6);
    store.learn(plan, stat!);
    expect(store.state).toMatchObject({ kind: 'plan', plan, version: 1 });
    const seen = new Recording(store.state$);
    await world.time.advance(1_000);
    expect(seen.values).toHaveLength(1);
  });

  it('does not go back for an answer that comes late', async () => {
    await write(5);
    await open();
    const { plan, stat } = await write(6);
    await write(7);
    await world.time.settle();
    store.learn(plan, stat!);
    expect(store.plan?.epoch).toBe(7);
  });

  it('finds a plan that was deleted and made again', async () => {
    await write(5);
    const seen = await open();
    await world.remove(PATH);
    await world.time.settle();
    await write(3);
    await world.time.settle();
    expect(seen.values.map(({ kind }) => kind)).toEqual(['unknown', 'plan', 'absent', 'plan']);
    expect(store.plan?.epoch).toBe(3);
  });

  it('takes what a former leader wrote over a plan made again for none', async () => {
    await write(5);
    await open();
    const former = store.state;
    await world.remove(PATH);
    await write(6);
    await world.time.settle();
    const late = addressed(planOf('a1:2', { epoch: 7 }), former);
    const stat = await (await world.operator()).set(PATH, encodePlan(late), 0);
    store.learn(late, stat);
    expect([store.plan, store.state]).toMatchObject([undefined, { kind: 'unreadable' }]);
    const other = await world.client();
    const seen = new PlanStore(other.registry, other.environment, PATH);
    await world.time.settle();
    expect(seen.state).toMatchObject({ kind: 'unreadable', isNewer: false, version: 1 });
    // The next leader writes over it like over anything else that is no plan.
    await write(8);
    await world.time.settle();
    expect([store.plan?.epoch, seen.plan?.epoch]).toEqual([8, 8]);
  });

  it('can be told to look again', async () => {
    await write(5);
    await open();
    client.registry.notified = () => {};
    await write(6);
    await world.time.settle();
    expect(store.plan?.epoch).toBe(5);
    await store.refresh({ session: client.session });
    expect(store.plan?.epoch).toBe(6);
    await world.remove(PATH);
    await store.refresh({ session: client.session });
    expect(store.state.kind).toBe('absent');
  });

  it('is followed again after access to it was denied', async () => {
    await write(5);
    await open();
    const { link } = client.registry;
    const send = link.send.bind(link);
    const refusal = new NoAuthError({ operation: 'get', path: PATH });
    link.send = (request) =>
      request.command.kind === 'get' ? request.answer.reject(refusal) : send(request);
    await write(6);
    await world.time.settle();
    link.send = send;
    expect([store.plan?.epoch, client.logged.at(-1)]).toEqual([
      5,
      expect.stringMatching(/^error The plan cannot be seen: /),
    ]);
    await world.time.runUntil(() => store.plan?.epoch === 6, 2_000);
  });

  it('ends with its close', async () => {
    const seen = await open();
    store.close();
    expect(seen.completed).toBe(true);
    expect(client.registry.viewCount).toBe(0);
  });
});

describe('a member’s share of a plan', () => {
  const plan = planOf('a1:5 b1:6 a1:7!8 - a2:5');

  it('is what it may hold and what is being taken from it', () => {
    const share = shareOf(plan, 'a1')!;
    expect([...share.granted]).toEqual([0]);
    expect([...share.revoked]).toEqual([2]);
    expect([0, 1, 2, 4].map((item) => share.tokenOf(item))).toEqual([5, 0, 0, 0]);
    expect(share.markOf(2)).toBe(8);
  });

  it('is that of one registration, not of an id', () => {
    const share = shareOf(plan, 'a2')!;
    expect([...share.granted]).toEqual([4]);
    expect(share.tokenOf(4)).toBe(5);
    expect(memberIndex(plan, 'a2')).toBe(1);
  });

  it('is none for whoever is not named', () => {
    expect(shareOf(plan, 'a')).toBeUndefined();
    expect(memberIndex(plan, 'c1')).toBe(-1);
  });

  it('is nothing for whoever is named and has nothing', () => {
    const share = shareOf(planOf('a1:5', { members: ['c1'] }), 'c1')!;
    expect([share.granted.length, share.revoked.length]).toEqual([0, 0]);
  });
});
