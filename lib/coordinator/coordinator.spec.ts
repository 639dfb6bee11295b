import { beforeEach, describe, expect, it } from '@jest/globals';
import { coordinatorOptions, RecordingHooks } from '../../test/kit/coordinators.js';
import { MemoryWorld } from '../../test/kit/memory-world.js';
import type { ShardingStatus } from '../interfaces/sharding-values.interface.js';
import type { MemoryRegistry } from '../registry/memory/index.js';
import { NoAuthError } from '../registry/registry.errors.js';
import { Coordinator } from './coordinator.js';
import { ShardingClosedError, ShardingTimeoutError } from './coordinator.errors.js';
import type { CoordinatorOptions } from './coordinator.types.js';
import { Readiness } from './readiness.js';

let world: MemoryWorld;
let logged: string[];
let registry: MemoryRegistry;
let coordinator: Coordinator;
let hooks: RecordingHooks;

function make(change: Partial<CoordinatorOptions> = {}): void {
  logged = [];
  const environment = world.environment(logged);
  registry = world.cluster.registry({ environment });
  const options = coordinatorOptions(change);
  hooks = new RecordingHooks();
  coordinator = new Coordinator(registry, options, hooks, environment);
}

beforeEach(() => {
  world = new MemoryWorld();
  make();
});

/** What becomes of a promise within some time. */
async function ended<T>(promise: Promise<T>, limit = 60_000): Promise<T> {
  let isEnded = false;
  promise.catch(() => {}).finally(() => (isEnded = true));
  await world.time.runUntil(() => isEnded, limit);
  return promise;
}

async function holding(): Promise<void> {
  await ended(coordinator.start());
  await world.time.runUntil(() => coordinator.items.length === 4);
}

const registration = async (): Promise<{ leaving?: boolean }> =>
  JSON.parse((await world.read('/group/instances/a'))!) as { leaving?: boolean };

describe('an instance that cannot reach the store', () => {
  it('drains in bounded time, and the group hears of it later', async () => {
    await holding();
    registry.link.cut();
    await ended(coordinator.drain(), 3_500);
    expect([coordinator.items, registry.session.state]).toEqual([[], 'suspended']);
    expect(logged.filter((line) => line.includes('drain()'))).toEqual([
      'warn The group has not heard of drain() after 3000 ms; it will later',
    ]);
    registry.link.heal();
    await world.time.runUntil(() => registry.session.state === 'connected');
    await world.time.advance(1_000);
    expect(await registration()).toMatchObject({ leaving: true });
  });

  it('resumes in bounded time', async () => {
    await holding();
    await ended(coordinator.drain());
    registry.link.cut();
    await ended(coordinator.resume(), 3_500);
    registry.link.heal();
    await world.time.runUntil(() => coordinator.items.length === 4, 30_000);
  });

  it('shows an empty assignment once its lease has run out', async () => {
    await holding();
    const { assignment } = coordinator;
    expect([...assignment.tokens.keys()]).toEqual([0, 1, 2, 3]);
    // A suspended machine: time has passed, and nothing in this process has run since.
    world.clock.stepWall(6_000);
    expect(coordinator.assignment).toEqual({
      epoch: assignment.epoch,
      total: 4,
      items: [],
      added: [],
      removed: [],
      tokens: new Map(),
    });
  });
});

describe('an instance that cannot read the configuration', () => {
  const CONFIG = '/group/config';
  const noWait = { startup: { wait: false, timeout: 30_000 } };

  function member(id: string): { coordinator: Coordinator; registry: MemoryRegistry } {
    make({ instance: { id, ip: '10.0.0.1', pid: 1, weight: 1, labels: {} }, ...noWait });
    return { coordinator, registry };
  }

  it('leaves the lead to one that could read it before', async () => {
    const a = member('a').coordinator;
    await ended(a.start());
    const c = member('c');
    await ended(c.coordinator.start());
    await world.time.runUntil(() => c.coordinator.status === 'ready');
    const good = (await world.read(CONFIG))!;
    await world.put(CONFIG, good.replace('"version": 1', '"version": 2'));
    await world.time.settle();
    const b = member('b').coordinator;
    await ended(b.start());
    await world.time.advance(1_000);
    // So that b would be the next in line.
    c.registry.link.expire();
    await world.time.advance(1_000);
    await ended(a.stop());
    await world.time.runUntil(() => c.coordinator.isLeader, 60_000);
    await ended(c.coordinator.stop());
    expect(b.isLeader).toBe(false);
    await world.put(CONFIG, good);
    await world.time.runUntil(() => b.isLeader && b.items.length === 4, 60_000);
  });
});

describe('a start', () => {
  it.each([
    ['fails in time', true],
    ['goes on with a warning in time', false],
  ])('%s where the store goes silent once connected', async (_, wait) => {
    make({ startup: { wait, timeout: 30_000 } });
    await registry.connect();
    registry.link.freeze();
    // The memory registry alone would wait for as long as its session might live.
    registry.get = () => new Promise(() => {});
    const start = ended(coordinator.start(), 35_000);
    if (wait) await expect(start).rejects.toThrow(ShardingTimeoutError);
    else await start;
    expect(logged.some((line) => line.startsWith('warn Not ready within 30000 ms'))).toBe(!wait);
  });

  it('fails where the store is closed to it, also if it does not wait', async () => {
    make({ startup: { wait: false, timeout: 30_000 } });
    const refused = new NoAuthError({ operation: 'connect', path: '/' }, 'the store');
    registry.connect = () => Promise.reject(refused);
    await expect(ended(coordinator.start(), 100)).rejects.toBe(refused);
    expect(coordinator.status).toBe('closed');
  });

  it('ends when the instance is stopped meanwhile', async () => {
    registry.get = () => new Promise(() => {});
    const start = coordinator.start();
    start.catch(() => {});
    await world.time.advance(100);
    await ended(coordinator.stop());
    await expect(ended(start, 100)).rejects.toThrow(ShardingClosedError);
  });
});

describe('readiness', () => {
  it('is not waited for within a time that is none', async () => {
    const readiness = new Readiness(world.clock, () => 'connecting');
    for (const timeout of [0, -1, NaN]) {
      await expect(readiness.whenReady({ timeout })).rejects.toThrow(
        `whenReady(): the timeout is ${timeout}; expected a positive number`,
      );
    }
    const ready = readiness.whenReady({ timeout: Infinity });
    readiness.complete();
    await expect(ready).rejects.toThrow(ShardingClosedError);
  });

  it('forgets why it once failed', async () => {
    let status: ShardingStatus = 'connecting';
    const readiness = new Readiness(world.clock, () => status);
    readiness.fail(new Error('refused'));
    await expect(readiness.whenReady()).rejects.toThrow('refused');
    for (status of ['ready', 'connecting'] as const) readiness.update();
    await expect(ended(readiness.whenReady({ timeout: 1_000 }))).rejects.toThrow(/Not ready/);
  });
});

describe('an instance that leaves', () => {
  it('does not take part again when its registration is deleted meanwhile', async () => {
    const worker = hooks.hold('acquired 0');
    await holding();
    const stopped = coordinator.stop();
    await world.remove('/group/instances/a');
    // Longer than it takes to notice that.
    await world.time.advance(900);
    worker.resolve();
    await ended(stopped);
    await world.time.advance(10_000);
    expect(hooks.events.filter((event) => event.startsWith('acquired'))).toHaveLength(4);
    expect([coordinator.status, coordinator.items]).toEqual(['closed', []]);
    expect(await world.read('/group/instances/a')).toBeUndefined();
    // The session lives on, and nothing in it speaks for the instance.
    expect(await world.read('/group/leases/a')).toBeUndefined();
  });

  it('waits for what still drains though its session is lost', async () => {
    const worker = hooks.hold('acquired 0');
    await holding();
    // Lost, and no other session to be had.
    registry.session$.subscribe(({ state }) => state === 'lost' && registry.link.cut());
    registry.link.expire();
    await world.time.runUntil(() => registry.session.state === 'connecting');
    let isStopped = false;
    const stopped = coordinator.stop().then(() => (isStopped = true));
    await world.time.advance(500);
    expect([isStopped, hooks.events.includes('released 0 lease-lost')]).toEqual([false, false]);
    worker.resolve();
    await ended(stopped);
    expect(hooks.events).toContain('released 0 lease-lost');
  });
});

describe('an instance that goes on after a drain', () => {
  it('registers anew where its registration was deleted before anybody read it', async () => {
    const environment = world.environment();
    const first = new Coordinator(
      world.cluster.registry({ environment }),
      coordinatorOptions({ instance: { ...coordinatorOptions().instance, id: 'b' } }),
      new RecordingHooks(),
      environment,
    );
    await ended(first.start());
    await ended(coordinator.start());
    await ended(coordinator.drain());
    await world.time.runUntil(() => first.items.length === 4);
    const operator = await world.operator();
    const path = '/group/instances/a';
    const resumed = world.cluster.commits$.subscribe(({ change }) => {
      if (change.kind !== 'set' || change.path !== path) return;
      resumed.unsubscribe();
      void operator.delete(path, -1);
    });
    await ended(coordinator.resume());
    await world.time.runUntil(() => coordinator.items.length === 2, 30_000);
    expect(await registration()).toMatchObject({ leaving: false });
  });
});

describe('an instance under a plan of a later release', () => {
  const PLAN = '/group/sharding';

  beforeEach(async () => {
    await holding();
    const operator = await world.operator();
    const { data } = await operator.get(PLAN);
    data[3] = 9;
    await operator.set(PLAN, data, -1);
  });

  it.each([
    { name: 'at once', wait: 0 },
    { name: 'later', wait: 2_000 },
  ])('stands back, and leads again when there is other garbage $name', async ({ wait }) => {
    await world.time.advance(wait);
    await world.put(PLAN, 'garbage');
    await world.time.runUntil(() => coordinator.items.length === 4, 30_000);
    expect(coordinator.isLeader).toBe(true);
  });

  it('leads again when it is deleted', async () => {
    await world.time.advance(2_000);
    expect([coordinator.items, coordinator.isLeader]).toEqual([[], false]);
    await world.remove(PLAN);
    await world.time.runUntil(() => coordinator.items.length === 4, 30_000);
  });
});

describe('an instance whose plan others watch on the same connection', () => {
  it('stands in line once when it registers anew', async () => {
    await holding();
    registry.watch('/group/sharding').subscribe();
    await world.time.settle();
    await world.remove('/group/instances/a');
    await world.time.runUntil(() => coordinator.items.length === 0, 30_000);
    await world.time.runUntil(() => coordinator.items.length === 4, 30_000);
    expect(await world.children('/group/leader/election/latch')).toHaveLength(1);
  });
});
