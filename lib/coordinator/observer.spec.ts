import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { throwError } from 'rxjs';
import { Recording } from '../../test/conformance/recording.js';
import { coordinatorOptions, RecordingHooks } from '../../test/kit/coordinators.js';
import { MemoryWorld } from '../../test/kit/memory-world.js';
import { planOf, putPlan } from '../../test/kit/plans.js';
import type { MemoryRegistry } from '../registry/memory/index.js';
import { NoAuthError } from '../registry/registry.errors.js';
import { Coordinator } from './coordinator.js';
import {
  ObserverHoldsNothingError,
  ShardingClosedError,
  ShardingTimeoutError,
} from './coordinator.errors.js';
import { Observer } from './observer.js';

const PLAN = '/group/sharding';

let world: MemoryWorld;
let logged: string[];
let registry: MemoryRegistry;
let observer: Observer;

function observe(startup = { wait: false, timeout: 30_000 }): Observer {
  logged = [];
  const environment = world.environment(logged);
  registry = world.cluster.registry({ environment, label: 'observer' });
  observer = new Observer(registry, coordinatorOptions({ startup }), environment);
  return observer;
}

beforeEach(() => {
  world = new MemoryWorld();
  observe();
});

/** Somebody writes a plan, in the words of `planOf`. */
async function plan(words: string, change: Parameters<typeof planOf>[1] = {}): Promise<void> {
  await putPlan(await world.operator(), PLAN, planOf(words, change));
  await world.time.settle();
}

async function started(): Promise<void> {
  await ended(observer.start());
}

/** What becomes of a promise, while time passes. */
async function ended<T>(promise: Promise<T>): Promise<T> {
  let isEnded = false;
  promise.catch(() => {}).finally(() => (isEnded = true));
  await world.time.runUntil(() => isEnded);
  return promise;
}

const owners = (): string =>
  Array.from({ length: observer.total }, (_, item) => observer.ownerOf(item)?.instanceId ?? '-')
    .join(' ')
    .trim();

describe('an observer', () => {
  it('knows nothing at first', async () => {
    expect(observer).toMatchObject({ total: 0, leaderId: undefined, status: 'connecting' });
    await started();
    expect(observer).toMatchObject({ total: 0, leaderId: undefined, status: 'connecting' });
    expect(observer.ownerOf(0)).toBeUndefined();
  });

  it('holds nothing and leads nothing, whatever the plan says', async () => {
    await plan('a1:2 b1:3', { office: { ...planOf('').office, id: 'a' } });
    await started();
    expect(observer).toMatchObject({
      instanceId: 'a',
      items: [],
      isLeader: false,
      leaderId: 'a',
      assignment: { items: [], added: [], removed: [] },
    });
    expect([observer.owns(), observer.token(), observer.shard()]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect(new Recording(observer.assignment$).values).toEqual([observer.assignment]);
    expect(new Recording(observer.leadership$).values).toEqual([false]);
    expect(JSON.stringify(observer.assignment)).toContain('"tokens":{}');
  });

  it('follows every move, and tells which', async () => {
    await plan('a1:2 a1:2 b1:2 b1:2');
    await started();
    const seen = new Recording(observer.owners$);
    expect([owners(), observer.status]).toEqual(['a a b b', 'ready']);
    await plan('a1:2 a1:2!3 b1:2 b1:2!3', { members: ['c1'], settled: false });
    await plan('a1:2 c1:4 b1:2 c1:4');
    expect(owners()).toBe('a c b c');
    await plan('a1:5 a1:5');
    expect([owners(), observer.total]).toEqual(['a a', 2]);
    expect(seen.values).toEqual([
      { epoch: 2, total: 4, changed: [0, 1, 2, 3] },
      { epoch: 4, total: 4, changed: [1, 3] },
      { epoch: 5, total: 2, changed: [0, 1] },
    ]);
  });

  it('finds nobody while there is no plan, and follows the next one, whatever its epoch', async () => {
    await plan('a1:8 b1:9');
    await started();
    const seen = new Recording(observer.owners$);
    const statuses = new Recording(observer.status$);
    await world.remove(PLAN);
    await world.time.settle();
    expect([owners(), observer.total, observer.leaderId]).toEqual(['- -', 2, undefined]);
    await plan('a1:3 -');
    expect([owners(), observer.leaderId]).toEqual(['a -', 'z']);
    expect(seen.values).toEqual([
      { epoch: 9, total: 2, changed: [0, 1] },
      { epoch: 9, total: 2, changed: [0, 1] },
      { epoch: 3, total: 2, changed: [0] },
    ]);
    expect(statuses.values).toEqual(['ready']);
  });

  it('goes on with what it knew where it cannot read the plan, and says so', async () => {
    await plan('a1:2 b1:3');
    await started();
    await world.put(PLAN, 'garbage');
    await world.time.settle();
    expect([owners(), observer.status]).toEqual(['a b', 'ready']);
    expect(logged).toEqual([expect.stringMatching(/^error The plan cannot be read/)]);
    await plan('b1:4 b1:3');
    expect(owners()).toBe('b b');
  });

  it('is told once where several plans are written before it looks', async () => {
    await plan('a1:2 a1:2 a1:2');
    await started();
    const seen = new Recording(observer.owners$);
    registry.link.delay(1_000);
    await plan('b1:3 a1:2 a1:2');
    await plan('b1:3 b1:4 a1:2');
    await world.time.advance(10_000);
    expect(seen.values.slice(1)).toEqual([{ epoch: 4, total: 3, changed: [0, 1] }]);
  });
});

describe('an observer whose connection', () => {
  beforeEach(async () => {
    await plan('a1:2 b1:3');
    await started();
  });

  it('breaks is suspended, still answers, and catches up', async () => {
    const seen = new Recording(observer.owners$);
    const statuses = new Recording(observer.status$);
    registry.link.cut();
    await world.time.settle();
    await plan('a1:2 c1:4');
    expect([owners(), observer.status]).toEqual(['a b', 'suspended']);
    registry.link.heal();
    await world.time.runUntil(() => owners() === 'a c');
    expect(statuses.values).toEqual(['ready', 'suspended', 'ready']);
    expect(seen.values.slice(1)).toEqual([{ epoch: 4, total: 2, changed: [1] }]);
  });

  it('loses its session sees the next plan in another one', async () => {
    const seen = new Recording(observer.owners$);
    const statuses = new Recording(observer.status$);
    const { id } = registry.session;
    registry.link.cut();
    await world.time.advance(2 * world.sessionTimeout);
    await world.remove(PLAN);
    await plan('c1:9 b1:9');
    registry.link.heal();
    await world.time.runUntil(() => owners() === 'c b');
    expect(registry.session.id).not.toBe(id);
    expect(statuses.values).toEqual(['ready', 'suspended', 'ready']);
    expect(seen.values.slice(1)).toEqual([{ epoch: 9, total: 2, changed: [0] }]);
    await plan('c1:9 c1:10');
    expect(owners()).toBe('c c');
  });

  it('is restored says nothing if nothing has changed', async () => {
    const seen = new Recording(observer.owners$);
    registry.link.expire();
    await world.time.runUntil(() => observer.status === 'ready');
    await world.time.advance(60_000);
    expect([seen.values.length, owners()]).toEqual([1, 'a b']);
  });
});

describe('the start of an observer', () => {
  it('waits for a plan with startup.wait', async () => {
    observe({ wait: true, timeout: 30_000 });
    let isStarted = false;
    const start = observer.start().then(() => (isStarted = true));
    await world.time.advance(20_000);
    expect(isStarted).toBe(false);
    await plan('a1:2');
    await start;
    expect(observer.status).toBe('ready');
  });

  it('fails without one in time', async () => {
    observe({ wait: true, timeout: 30_000 });
    await expect(ended(observer.start())).rejects.toThrow(
      new ShardingTimeoutError("Not ready within 30000 ms: the status is 'connecting'"),
    );
    expect(observer.status).toBe('closed');
  });

  it('fails if it has to wait for a store that cannot be reached', async () => {
    observe({ wait: true, timeout: 30_000 });
    registry.link.cut();
    await expect(ended(observer.start())).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect([observer.status, registry.viewCount]).toEqual(['closed', 0]);
  });

  it('goes on without the store if it need not wait, and sees the plan later', async () => {
    await plan('a1:2 b1:3');
    registry.link.cut();
    await started();
    expect(logged).toEqual([expect.stringMatching(/^warn .*who owns what is known later$/)]);
    expect(observer.status).toBe('connecting');
    const ready = observer.whenReady();
    registry.link.heal();
    await ended(ready);
    expect([owners(), observer.status]).toEqual(['a b', 'ready']);
  });

  it('fails where it may not see the plan, also if it need not wait', async () => {
    const refusal = new NoAuthError({ operation: 'get', path: PLAN });
    const watch = jest.spyOn(registry, 'watch').mockReturnValue(throwError(() => refusal));
    await expect(ended(observer.start())).rejects.toBe(refusal);
    expect(logged).toEqual([expect.stringMatching(/^error This observer cannot see the plan: /)]);
    await world.time.advance(60_000);
    expect(watch).toHaveBeenCalledTimes(1);
  });

  it('is one, however often it is asked for', async () => {
    await plan('a1:2');
    const starts = [observer.start(), observer.start()];
    await ended(Promise.all(starts));
    expect(registry.viewCount).toBe(1);
    await observer.stop();
    await expect(observer.start()).rejects.toThrow(ShardingClosedError);
  });
});

describe('an observer that may not see the plan any more', () => {
  it('looks again until it may', async () => {
    await started();
    const refusal = new NoAuthError({ operation: 'get', path: PLAN });
    const denied = new Recording(registry.watch(PLAN));
    const get = registry.link.send.bind(registry.link);
    let isDenied = true;
    registry.link.send = (request) =>
      isDenied && request.command.kind === 'get' ? request.answer.reject(refusal) : get(request);
    await plan('a1:2');
    await world.time.advance(5_000);
    expect(denied.error).toBe(refusal);
    expect([owners(), observer.status]).toEqual(['', 'connecting']);
    isDenied = false;
    await world.time.runUntil(() => owners() === 'a', 2_000);
    expect(observer.status).toBe('ready');
  });
});

describe('waiting for an observer', () => {
  it('ends with the first plan, settled or not', async () => {
    await started();
    const ready = observer.whenReady();
    await plan('a1:2!3', { settled: false });
    await ended(ready);
  });

  it('ends with an error in time, by a signal and on close', async () => {
    await started();
    await expect(ended(observer.whenReady({ timeout: 1_000 }))).rejects.toThrow(
      ShardingTimeoutError,
    );
    const controller = new AbortController();
    const aborted = observer.whenReady({ signal: controller.signal });
    controller.abort();
    await expect(aborted).rejects.toThrow('Aborted');
    const closed = observer.whenReady();
    await observer.stop();
    await expect(closed).rejects.toThrow(ShardingClosedError);
    await expect(observer.whenReady()).rejects.toThrow(ShardingClosedError);
  });
});

describe('what an observer is asked for', () => {
  it('is refused where only a holder could do it', async () => {
    await started();
    await expect(observer.drain()).rejects.toThrow(ObserverHoldsNothingError);
    await expect(observer.drain()).rejects.toThrow('drain() is for members');
    await expect(observer.resume()).rejects.toThrow('resume() is for members');
  });

  it('reaches the leader if it is a reshard', async () => {
    await started();
    await ended(observer.reshard());
    expect(await world.read('/group/leader/sharding/necessary')).toBe('');
  });
});

describe('the close of an observer', () => {
  it('completes what it tells, and leaves nothing behind', async () => {
    await plan('a1:2');
    await started();
    const { owners$, assignment$, leadership$, status$ } = observer;
    const streams = [owners$, assignment$, leadership$, status$].map(
      (stream) => new Recording<unknown>(stream),
    );
    await observer.stop();
    await observer.stop();
    expect(streams.map(({ completed, error }) => [completed, error])).toEqual(
      streams.map(() => [true, undefined]),
    );
    expect(streams.at(-1)!.values).toEqual(['ready', 'closed']);
    expect([registry.viewCount, world.time.pending]).toEqual([0, 0]);
    // The connection may be others' too.
    expect(registry.session.state).toBe('connected');
    await plan('b1:3');
    expect(streams[0]!.values).toHaveLength(1);
  });
});

describe('an observer beside a group', () => {
  async function join(id: string, total = 12): Promise<Coordinator> {
    const environment = world.environment();
    const member = new Coordinator(
      world.cluster.registry({ environment, label: id }),
      coordinatorOptions({
        total,
        instance: { id, ip: '10.0.0.1', pid: 1, weight: 1, labels: {}, address: `http://${id}` },
        onConfigMismatch: 'overwrite',
      }),
      new RecordingHooks(),
      environment,
    );
    await ended(member.start());
    return member;
  }

  const agrees = (...members: Coordinator[]): boolean =>
    members.every(({ status, total, items, instanceId }) => {
      const isKnown = (item: number): boolean => {
        const owner = observer.ownerOf(item);
        return owner?.instanceId === instanceId && owner.address === `http://${instanceId}`;
      };
      return status === 'ready' && total === observer.total && items.every(isKnown);
    }) &&
    members.reduce((sum, { items }) => sum + items.length, 0) === observer.total &&
    observer.leaderId !== undefined;

  it('sees what the members say of themselves, through joins, leaves and a new total', async () => {
    await started();
    const a = await join('a');
    await world.time.runUntil(() => agrees(a));
    const seen = new Recording(observer.owners$);
    const b = await join('b');
    await world.time.runUntil(() => agrees(a, b));
    const moved = new Set(seen.values.slice(1).flatMap(({ changed }) => changed));
    expect([...moved].toSorted((one, other) => one - other)).toEqual(b.items);
    await ended(a.stop());
    await world.time.runUntil(() => agrees(b));
    const c = await join('c', 20);
    await world.time.runUntil(() => observer.total === 20 && agrees(b, c));
    expect(seen.last!.total).toBe(20);
  });

  it('tells the same changes as a member does', async () => {
    await started();
    const a = await join('a');
    await world.time.runUntil(() => agrees(a));
    const [seen, told] = [new Recording(observer.owners$), new Recording(a.owners$)];
    const b = await join('b');
    await world.time.runUntil(() => agrees(a, b));
    await ended(b.stop());
    await world.time.runUntil(() => agrees(a));
    expect(seen.values.length).toBeGreaterThan(2);
    expect(told.values).toEqual(seen.values);
    await ended(a.stop());
    expect([told.completed, told.error]).toEqual([true, undefined]);
  });

  it('writes nothing, whatever happens to it', async () => {
    const written: unknown[] = [];
    world.cluster.commits$.subscribe(({ by, change }) => {
      if (by === 'observer') written.push(change);
    });
    await started();
    const members = [await join('a'), await join('b')];
    await world.time.runUntil(() => agrees(...members));
    const nodes = world.cluster.nodeCount;
    registry.link.expire();
    await world.time.advance(60_000);
    registry.link.cut();
    await world.time.advance(60_000);
    registry.link.heal();
    await world.time.runUntil(() => observer.status === 'ready');
    await observer.stop();
    await world.time.advance(60_000);
    expect(written).toEqual([]);
    expect(world.cluster.nodeCount).toBe(nodes);
    // Nor does the group find anything to do.
    expect(agrees(...members)).toBe(true);
  });
});
