import { beforeEach, describe, expect, it } from '@jest/globals';
import { RecordingHooks } from '../../test/kit/coordinators.js';
import { MemoryWorld } from '../../test/kit/memory-world.js';
import type { Environment } from '../registry/environment.js';
import type { ReleaseReason } from '../interfaces/sharding-values.interface.js';
import { instantOf, Lease } from './lease.js';
import { Shards } from './shards.js';

const DRAIN = 1_000;
const AT_ONCE = Promise.resolve();

let world: MemoryWorld;
let environment: Environment;
let logged: string[];
let hooks: RecordingHooks;
let lease: Lease;
let shards: Shards;

beforeEach(() => {
  world = new MemoryWorld();
  logged = [];
  environment = world.environment(logged);
  hooks = new RecordingHooks();
  lease = new Lease(environment.clock, 5_000, () => true);
  lease.renew(instantOf(environment.clock));
  shards = new Shards(environment, hooks, DRAIN);
});

function start(...items: number[]): void {
  for (const item of items) shards.start(item, 7, 10, lease);
}

/** Lets go and drains; tells when that has ended. */
function release(items: readonly number[], reason: ReleaseReason, announced = AT_ONCE) {
  const outcome = { isDone: false };
  const letGo = shards.letGo(
    items.map((item) => shards.get(item)!),
    () => reason,
  );
  void shards.drain(letGo!, announced).then(() => (outcome.isDone = true));
  return outcome;
}

describe('a shard that was started', () => {
  it('is held, with its token, until it is let go', async () => {
    start(3);
    const shard = shards.get(3)!;
    expect(shard).toMatchObject({ item: 3, token: 7n, grantedAt: 7, total: 10, valid: true });
    expect(shard.signal.aborted).toBe(false);
    expect([...shards.held.keys()]).toEqual([3]);
    expect(shards.isBusy(3)).toBe(true);
    await world.time.settle();
    expect(hooks.events).toEqual(['acquired 3 7']);
  });

  it('is valid only as long as the lease', async () => {
    start(3);
    const shard = shards.get(3)!;
    await world.time.advance(4_999);
    expect(shard.valid).toBe(true);
    await world.time.advance(1);
    expect(shard.valid).toBe(false);
  });

  it('may have ended its work long before', async () => {
    start(3);
    await world.time.settle();
    expect(shards.get(3)?.valid).toBe(true);
  });
});

describe('letting go', () => {
  it('is in this order: not held, signal, announcement, worker, released, not valid', async () => {
    const worker = hooks.hold('acquired 3');
    const released = hooks.hold('released 3');
    let endAnnouncement!: () => void;
    const announced = new Promise<void>((resolve) => (endAnnouncement = resolve));
    start(3);
    const shard = shards.get(3)!;
    let wasHeld: boolean | undefined;
    shard.signal.addEventListener('abort', () => (wasHeld = shards.held.has(3)));

    const outcome = release([3], 'rebalance', announced);
    expect(wasHeld).toBe(false);
    expect(shard.signal.reason).toBe('rebalance');
    expect(shards.get(3)).toBeUndefined();
    expect(shards.isBusy(3)).toBe(true);
    expect(shard.valid).toBe(true);

    worker.resolve();
    await world.time.settle();
    expect(hooks.events).toEqual(['acquired 3 7', 'end of acquired 3']);
    endAnnouncement();
    await world.time.settle();
    expect(hooks.events.at(-1)).toBe('released 3 rebalance');
    expect(shard.valid).toBe(true);
    expect(outcome.isDone).toBe(false);
    released.resolve();
    await world.time.settle();
    expect(outcome.isDone).toBe(true);
    expect(shard.valid).toBe(false);
    expect(shards.isBusy(3)).toBe(false);
    expect(logged).toEqual([]);
  });

  it('fires every signal before anything is awaited', () => {
    hooks.hold('acquired 1');
    start(1, 2, 3);
    const all = [1, 2, 3].map((item) => shards.get(item)!);
    release([1, 2, 3], 'shutdown');
    expect(all.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  });

  it('lets one end before the other: the acknowledgement waits for all', async () => {
    const worker = hooks.hold('acquired 1');
    start(1, 2);
    const outcome = release([1, 2], 'rebalance');
    await world.time.settle();
    expect(shards.isBusy(1)).toBe(true);
    expect(shards.isBusy(2)).toBe(false);
    expect(outcome.isDone).toBe(false);
    worker.resolve();
    await world.time.settle();
    expect(outcome.isDone).toBe(true);
  });

  it('lets go once', () => {
    start(1);
    const holding = shards.get(1)!;
    expect(shards.letGo([holding], () => 'rebalance')?.holdings).toEqual([holding]);
    expect(shards.letGo([holding], () => 'shutdown')).toBeUndefined();
    expect(holding.signal.reason).toBe('rebalance');
  });
});

describe('what does not end', () => {
  it('a worker: it is logged, and the shard is let go after the drainTimeout', async () => {
    hooks.hold('acquired 3');
    start(3);
    const outcome = release([3], 'rebalance');
    await world.time.advance(DRAIN - 1);
    expect(outcome.isDone).toBe(false);
    expect(hooks.events).not.toContain('released 3 rebalance');
    await world.time.advance(1);
    expect(outcome.isDone).toBe(true);
    expect(hooks.events.at(-1)).toBe('released 3 rebalance');
    expect(logged).toEqual([
      'error The worker of shard 3 did not end within 1000 ms after its signal; ' +
        'the shard is let go, and only its fencing token protects it now',
    ]);
  });

  it('an announcement, a worker and a hook together: one bound for all of it', async () => {
    hooks.hold('acquired 3');
    hooks.hold('released 3');
    start(3);
    const outcome = release([3], 'rebalance', new Promise(() => {}));
    await world.time.advance(DRAIN - 1);
    expect(outcome.isDone).toBe(false);
    await world.time.advance(1);
    expect(outcome.isDone).toBe(true);
    expect(logged.at(-1)).toBe('error @OnShardReleased of shard 3 overran the drainTimeout');
  });

  it('a worker that takes most of the time leaves the rest to the hook', async () => {
    const worker = hooks.hold('acquired 3');
    hooks.hold('released 3');
    start(3);
    const outcome = release([3], 'rebalance');
    await world.time.advance(900);
    worker.resolve();
    await world.time.advance(99);
    expect(outcome.isDone).toBe(false);
    await world.time.advance(1);
    expect(outcome.isDone).toBe(true);
  });

  it('what rejects counts as ended', async () => {
    const worker = hooks.hold('acquired 3');
    const released = hooks.hold('released 3');
    start(3);
    const outcome = release([3], 'rebalance', Promise.reject(new Error('announcement')));
    worker.reject(new Error('worker'));
    released.reject(new Error('released'));
    await world.time.settle();
    expect(outcome.isDone).toBe(true);
    expect(shards.isAnyBusy).toBe(false);
  });
});

describe('starting again', () => {
  const canStart = (item: number, total: number): boolean =>
    !shards.isBusy(item) && shards.allows(total);

  it('waits for the former worker of the item', async () => {
    const worker = hooks.hold('acquired 3');
    start(3);
    expect(canStart(3, 10)).toBe(false);
    release([3], 'rebalance');
    await world.time.settle();
    expect(canStart(3, 10)).toBe(false);
    expect(canStart(4, 10)).toBe(true);
    worker.resolve();
    await world.time.settle();
    expect(canStart(3, 10)).toBe(true);
  });

  it('waits no longer than until the former worker has overrun', async () => {
    hooks.hold('acquired 3');
    start(3);
    release([3], 'rebalance');
    await world.time.advance(DRAIN);
    expect(canStart(3, 10)).toBe(true);
  });

  it('is not possible for another total while something of this one is held or drains', async () => {
    const worker = hooks.hold('acquired 3');
    start(3);
    expect(canStart(4, 11)).toBe(false);
    release([3], 'total-changed');
    await world.time.settle();
    expect(canStart(4, 11)).toBe(false);
    worker.resolve();
    await world.time.settle();
    expect(canStart(4, 11)).toBe(true);
  });
});

describe('waiting until all is drained', () => {
  it('waits for every drain under way', async () => {
    const [one, two] = [hooks.hold('acquired 1'), hooks.hold('acquired 2')];
    start(1, 2);
    release([1], 'rebalance');
    release([2], 'rebalance');
    let isDone = false;
    void shards.drained().then(() => (isDone = true));
    one.resolve();
    await world.time.settle();
    expect([isDone, shards.isAnyDraining]).toEqual([false, true]);
    two.resolve();
    await world.time.settle();
    expect([isDone, shards.isAnyDraining]).toEqual([true, false]);
  });

  it('is done at once where nothing drains', async () => {
    await shards.drained();
  });
});
