import { beforeEach, describe, expect, it } from '@jest/globals';
import { Recording } from '../../test/conformance/recording.js';
import { RecordingHooks } from '../../test/kit/coordinators.js';
import { deferred, type Deferred } from '../../test/kit/eventually.js';
import { MemoryWorld } from '../../test/kit/memory-world.js';
import { member, planOf } from '../../test/kit/plans.js';
import { NoNodeError } from '../registry/registry.errors.js';
import { AssignmentStream } from './assignment-stream.js';
import type { CoordinatorOptions } from './coordinator.types.js';
import { Follower } from './follower.js';
import { type GroupConfig, newConfig } from './group-config.js';
import { instantOf, Lease } from './lease.js';
import type { LeaseKeeper, LeaseNeed } from './lease-keeper.js';
import type { MemberRecord } from './member-record.js';
import type { Membership } from './membership.js';
import { RebalanceHooks } from './rebalance-hooks.js';
import { Shards } from './shards.js';

const DRAIN = 1_000;

/** A registration whose writes are stored at once, unless held up. */
class FakeMembership {
  readonly incarnation = 'a1';
  record: MemberRecord = member('a1');
  /** What the store has been told, one after the other. */
  readonly written: Partial<MemberRecord>[] = [];
  gate: Deferred<void> | undefined;

  async promise(change: Partial<MemberRecord>): Promise<void> {
    const { acked, surrendered, leaving } = this.record;
    this.record = {
      ...this.record,
      acked: Math.max(acked, change.acked ?? 0),
      surrendered: Math.max(surrendered, change.surrendered ?? 0),
      leaving: change.leaving ?? leaving,
    };
    await this.gate?.promise;
    this.written.push(change);
  }
}

class FakeKeeper {
  readonly calls: string[] = [];
  isAllowed = true;

  constructor(private readonly lease: Lease) {}

  get mayHold(): boolean {
    return this.isAllowed && this.lease.isValid;
  }

  set need(need: LeaseNeed) {
    if (this.calls.at(-1) !== need) this.calls.push(need);
  }

  restart(): void {
    this.calls.push('restart');
    this.lease.restart();
  }

  async disclaim(): Promise<void> {
    this.calls.push('disclaim');
  }
}

let world: MemoryWorld;
let logged: string[];
let hooks: RecordingHooks;
let lease: Lease;
let shards: Shards;
let assignment: AssignmentStream;
let rebalances: RebalanceHooks;
let membership: FakeMembership;
let keeper: FakeKeeper;
let follower: Follower;
let evictions: number;
let groupConfig: GroupConfig | undefined = undefined;

function renew(): void {
  lease.renew(instantOf(world.clock));
}

function newFollower(): Follower {
  membership = new FakeMembership();
  keeper = new FakeKeeper(lease);
  return new Follower(
    {
      options: { instance: { id: 'a' }, rejoin: { window: 0, lends: false } } as CoordinatorOptions,
      config: {
        get config() {
          return groupConfig;
        },
      },
      shards,
      assignment,
      rebalances,
      membership: membership as unknown as Membership,
      lease,
      keeper: keeper as unknown as LeaseKeeper,
      onApplied: () => {},
      onEvicted: () => (evictions += 1),
    },
    world.environment(logged),
  );
}

beforeEach(() => {
  world = new MemoryWorld();
  logged = [];
  evictions = 0;
  groupConfig = undefined;
  hooks = new RecordingHooks();
  const environment = world.environment(logged);
  lease = new Lease(world.clock, 5_000, () => true);
  renew();
  shards = new Shards(environment, hooks, DRAIN);
  assignment = new AssignmentStream(shards);
  rebalances = new RebalanceHooks(environment, hooks, DRAIN);
  follower = newFollower();
});

const apply = async (...args: Parameters<typeof planOf>): Promise<void> => {
  follower.apply(planOf(...args));
  await world.time.settle();
};

const held = (): number[] => [...shards.held.keys()].toSorted((a, b) => a - b);
/** What was heard since the last time that this was asked. */
const heard = (): string[] => hooks.events.splice(0);
const unsettled = { settled: false };

describe('what the configuration says', () => {
  it('of an item is handed to its worker, as it is when it starts', async () => {
    groupConfig = { ...newConfig(2, 'sticky'), items: { 1: { parameter: { shop: 'north' } } } };
    await apply('a1:5 a1:5');
    expect(shards.get(0)?.parameter).toBeUndefined();
    expect(shards.get(1)?.parameter).toEqual({ shop: 'north' });
    groupConfig = { ...newConfig(2, 'sticky'), items: { 1: { parameter: 'other' } } };
    follower.reconcile();
    expect(shards.get(1)?.parameter).toEqual({ shop: 'north' });
  });

  it.each([
    [{ items: { 0: { disabled: true } } }, ['released 0 disabled', 'released 1 rebalance']],
    [{ instances: { a: { disabled: true } } }, ['released 0 disabled', 'released 1 disabled']],
    [{ instances: { a: { drained: true } } }, ['released 0 drain', 'released 1 drain']],
    [{ instances: { b: { drained: true } } }, ['released 0 rebalance', 'released 1 rebalance']],
  ])('is the reason for a release: %j', async (said, released) => {
    await apply('a1:5 a1:5');
    heard();
    groupConfig = { ...newConfig(2, 'sticky'), ...said };
    await apply('a1:5!6 a1:5!6', unsettled);
    expect(heard()).toEqual(['started -0,1 =', ...released]);
  });
});

describe('a new leader', () => {
  const office = { id: 'z', incarnation: 'z1', lease: 5_000, term: 6, owed: 0 };

  it('is no rebalance', async () => {
    await apply('a1:5', { members: ['b1'] });
    heard();
    await apply('a1:5', { members: ['b1'], epoch: 6, office });
    expect(heard()).toEqual([]);
  });

  it('is one if somebody went with the last one, though nothing moves', async () => {
    await apply('a1:5', { members: ['b1'] });
    heard();
    await apply('a1:5', { epoch: 6, office });
    expect(heard()).toEqual(['started - =0', 'completed 0 + -']);
  });
});

describe('a grant', () => {
  it('is started after @OnShardingStarted, and completed when settled', async () => {
    const started = hooks.hold('started');
    await apply('a1:5 b1:5 a1:5');
    expect(heard()).toEqual(['started - =']);
    expect(held()).toEqual([]);
    started.resolve();
    await world.time.settle();
    expect(heard()).toEqual([
      'end of started',
      'acquired 0 5',
      'acquired 2 5',
      'completed 0,2 +0,2 -',
    ]);
    expect(held()).toEqual([0, 2]);
    expect(follower.isSettled).toBe(true);
  });

  it('is not started without the lease, but as soon as there is one', async () => {
    keeper.isAllowed = false;
    await apply('a1:5');
    expect(heard()).toEqual(['started - =']);
    expect(follower.isSettled).toBe(false);
    keeper.isAllowed = true;
    follower.reconcile();
    await world.time.settle();
    expect(heard()).toEqual(['acquired 0 5', 'completed 0 +0 -']);
  });

  it('does not wait for a worker to be completed', async () => {
    hooks.hold('acquired 0');
    await apply('a1:5');
    expect(heard().at(-1)).toBe('completed 0 +0 -');
  });

  it('is ignored if its token was surrendered', async () => {
    membership.record = member('a1', { surrendered: 5 });
    await apply('a1:5 a1:6');
    expect(held()).toEqual([1]);
    expect(follower.isSettled).toBe(true);
  });

  it('is ignored while leaving', async () => {
    membership.record = member('a1', { leaving: true });
    await apply('a1:5');
    expect(held()).toEqual([]);
  });

  it('with another token of what is held already ends the former holding first', async () => {
    await apply('a1:5');
    heard();
    await apply('a1:7');
    expect(heard()).toEqual([
      'started -0 =',
      'released 0 rebalance',
      'acquired 0 7',
      'completed 0 +0 -0',
    ]);
  });
});

describe('a revocation', () => {
  beforeEach(async () => {
    await apply('a1:5 a1:5');
    heard();
  });

  it('is carried out in the promised order, then acknowledged, and the rest runs on', async () => {
    const [started, worker] = [hooks.hold('started'), deferred()];
    shards.get(1)!.worker = worker.promise;
    const { signal } = shards.get(0)!;
    follower.apply(planOf('a1:5 a1:5!6', { ...unsettled, members: ['b1'] }));
    expect(held()).toEqual([0]);
    await world.time.settle();
    expect(heard()).toEqual(['started -1 =0']);
    expect(signal.aborted).toBe(false);
    started.resolve();
    await world.time.settle();
    expect(heard()).toEqual(['end of started']);
    expect(membership.written).toEqual([]);
    worker.resolve();
    await world.time.settle();
    expect(heard()).toEqual(['released 1 rebalance']);
    expect(membership.written).toEqual([{ acked: 6 }]);
    await apply('a1:5 b1:7');
    expect(heard()).toEqual(['completed 0 + -1']);
  });

  it('is acknowledged once', async () => {
    await apply('a1:5 a1:5!6', unsettled);
    await apply('a1:5 a1:5!6', { ...unsettled, epoch: 7 });
    follower.reconcile();
    await world.time.settle();
    expect(membership.written).toEqual([{ acked: 6 }]);
  });

  it('is acknowledged at once where the item was never started', async () => {
    await apply('a1:5 a1:5 a1:5!6', unsettled);
    expect(membership.written.at(-1)).toEqual({ acked: 6 });
  });

  it('is acknowledged when the worker has overrun', async () => {
    shards.get(1)!.worker = new Promise(() => {});
    await apply('a1:5 a1:5!6', unsettled);
    await world.time.advance(DRAIN - 1);
    expect(membership.written).toEqual([]);
    await world.time.advance(1);
    expect(membership.written).toEqual([{ acked: 6 }]);
  });

  it('does not acknowledge a later one while an earlier one drains', async () => {
    const worker = deferred();
    shards.get(0)!.worker = worker.promise;
    await apply('a1:5!6 a1:5', unsettled);
    await apply('a1:5!6 a1:5!7', unsettled);
    expect(membership.written).toEqual([]);
    worker.resolve();
    await world.time.settle();
    expect(membership.written).toEqual([{ acked: 7 }]);
  });

  it('acknowledges an earlier one while a later one drains', async () => {
    const worker = deferred();
    shards.get(1)!.worker = worker.promise;
    await apply('a1:5!6 a1:5', unsettled);
    await apply('a1:5!6 a1:5!7', unsettled);
    expect(membership.written).toEqual([{ acked: 6 }]);
    worker.resolve();
    await world.time.settle();
    expect(membership.written).toEqual([{ acked: 6 }, { acked: 7 }]);
  });

  it('of all for another total says so', async () => {
    await apply('a1:5!6 a1:5!6', { ...unsettled, nextTotal: 3 });
    expect(heard()).toEqual([
      'started -0,1 =',
      'released 0 total-changed',
      'released 1 total-changed',
    ]);
  });

  it('ends the former holding before the next one of the same item starts', async () => {
    const worker = deferred();
    shards.get(1)!.worker = worker.promise;
    await apply('a1:5 a1:5!6', unsettled);
    // A leader may believe that we let go, because of a lapse of long ago, say.
    await apply('a1:5 a1:9');
    expect(heard()).toEqual(['started -1 =0']);
    expect(held()).toEqual([0]);
    worker.resolve();
    await world.time.settle();
    expect(heard().slice(0, 2)).toEqual(['released 1 rebalance', 'acquired 1 9']);
  });
});

describe('another total', () => {
  it('starts nothing before all of the former one has ended', async () => {
    await apply('a1:5 a1:5');
    heard();
    const worker = deferred();
    shards.get(1)!.worker = worker.promise;
    await apply('a1:8 a1:8 a1:8');
    expect(held()).toEqual([]);
    expect(heard().filter((event) => event.startsWith('acquired'))).toEqual([]);
    worker.resolve();
    await world.time.settle();
    expect(held()).toEqual([0, 1, 2]);
    expect(assignment.current.total).toBe(3);
  });
});

describe('plans', () => {
  it('are never applied backwards', async () => {
    await apply('a1:5', { epoch: 9 });
    await apply('-', { epoch: 8, members: ['a1'] });
    await apply('-', { epoch: 9, members: ['a1'] });
    expect(held()).toEqual([0]);
    expect(follower.plan?.epoch).toBe(9);
  });

  it('that do not name us: everything is released, nothing acknowledged', async () => {
    await apply('a1:5');
    heard();
    await apply('b1:9');
    expect(heard()).toEqual(['started -0 =', 'released 0 evicted']);
    expect(membership.written).toEqual([]);
    expect(follower.isNamed).toBe(false);
    expect(follower.isSettled).toBe(false);
  });

  it('that name another life of our id: nothing of it is ours', async () => {
    await apply('a0:5 a0:5!6 b1:5', unsettled);
    expect(held()).toEqual([]);
    expect(heard()).toEqual([]);
    expect(membership.written).toEqual([]);
  });

  it('that are gone: everything is released, and said to be', async () => {
    await apply('a1:5');
    heard();
    const lost = follower.loseThePlan();
    await world.time.settle();
    await lost;
    expect(heard()).toEqual(['started -0 =', 'released 0 rebalance']);
    expect(membership.written).toEqual([{ acked: 5, surrendered: 5 }]);
    expect(keeper.calls.at(-1)).toBe('disclaim');
    // Whatever comes next, what was granted before is not taken up again.
    await apply('a1:5', { epoch: 8 });
    expect(held()).toEqual([]);
    await apply('a1:9');
    expect(held()).toEqual([0]);
  });
});

describe('@OnShardingStarted and @OnShardingCompleted', () => {
  it('run in pairs: an unsettled plan announces once, the settled one concludes', async () => {
    await apply('b1:5', { members: ['a1'], ...unsettled });
    await apply('b1:5', { members: ['a1'], epoch: 6, ...unsettled });
    expect(heard()).toEqual(['started - =']);
    await apply('b1:5', { members: ['a1'], epoch: 7 });
    expect(heard()).toEqual(['completed + -']);
  });

  it('run both for a jump from one settled plan to another', async () => {
    await apply('a1:5 b1:5');
    heard();
    await apply('a1:5 b1:7');
    expect(heard()).toEqual(['started - =0', 'completed 0 + -']);
  });

  it('do not run where only the leader has changed', async () => {
    await apply('a1:5');
    heard();
    const office = { id: 'y', incarnation: 'y1', lease: 1, owed: 0, term: 9 };
    await apply('a1:5', { epoch: 9, office });
    await apply('a1:5', { epoch: 10, office: { ...office, lease: 0 } });
    expect(heard()).toEqual([]);
  });

  it('run where a new leader begins a rebalance with its first write', async () => {
    await apply('a1:5 b1:5 b1:5');
    heard();
    const office = { id: 'y', incarnation: 'y1', lease: 1, owed: 0, term: 9 };
    await apply('a1:5 b1:5 b1:5!9', { ...unsettled, office, members: ['c1'] });
    expect(heard()).toEqual(['started - =0']);
  });

  it('run again for each plan that takes something from us', async () => {
    await apply('a1:5 a1:5');
    heard();
    await apply('a1:5!6 a1:5', unsettled);
    await apply('a1:5!6 a1:5!7', unsettled);
    expect(heard().filter((event) => event.startsWith('started'))).toEqual([
      'started -0 =1',
      'started -1 =',
    ]);
    await apply('b1:8 b1:8', { members: ['a1'] });
    expect(heard()).toEqual(['completed + -0,1']);
  });

  it('that never end are logged and gone on without', async () => {
    hooks.hold('started');
    hooks.hold('completed');
    await apply('a1:5');
    await world.time.advance(DRAIN);
    expect(held()).toEqual([0]);
    await world.time.advance(DRAIN);
    expect(logged).toEqual([
      'error @OnShardingStarted did not end within 1000 ms; going on without it',
      'error @OnShardingCompleted did not end within 1000 ms; going on without it',
    ]);
    await apply('a1:7');
    await world.time.advance(2 * DRAIN);
    expect(shards.get(0)?.token).toBe(7n);
  });

  it('that reject count as done', async () => {
    hooks.hold('started').reject(new Error('hook'));
    await apply('a1:5');
    expect(held()).toEqual([0]);
    expect(heard()).toContain('completed 0 +0 -');
  });

  it('do not overlap', async () => {
    const completed = hooks.hold('completed');
    await apply('a1:5');
    await apply('a1:5 ', { epoch: 7 });
    expect(heard()).toEqual(['started - =', 'acquired 0 5', 'completed 0 +0 -']);
    completed.resolve();
    await world.time.settle();
    expect(heard().slice(0, 2)).toEqual(['end of completed', 'started - =0']);
  });
});

describe('a lapse', () => {
  beforeEach(async () => {
    await apply('a1:5 b1:5');
    heard();
    await world.time.advance(5_000);
  });

  it('ends everything, surrenders it, and begins again', async () => {
    expect(shards.get(0)?.valid).toBe(false);
    const lapsed = follower.lapse();
    await world.time.settle();
    await lapsed;
    expect(heard()).toEqual(['started -0 =', 'released 0 lease-lost', 'completed + -0']);
    expect(membership.written).toEqual([{ acked: 5, surrendered: 5 }]);
    expect(keeper.calls).toContain('restart');
    renew();
    follower.reconcile();
    await world.time.settle();
    expect(held()).toEqual([]);
    await apply('a1:8 b1:5');
    expect(held()).toEqual([0]);
  });

  it('surrenders before the lease may run again', async () => {
    membership.gate = deferred();
    void follower.lapse();
    await world.time.settle();
    expect(keeper.calls).not.toContain('restart');
    membership.gate.resolve();
    await world.time.settle();
    expect(keeper.calls).toContain('restart');
  });

  it('surrenders after the worker has ended', async () => {
    const worker = deferred();
    shards.get(0)!.worker = worker.promise;
    void follower.lapse();
    await world.time.settle();
    expect(membership.written).toEqual([]);
    worker.resolve();
    await world.time.settle();
    expect(membership.written).toEqual([{ acked: 5, surrendered: 5 }]);
  });

  it('starts nothing that is granted meanwhile, and surrenders it too', async () => {
    const worker = deferred();
    shards.get(0)!.worker = worker.promise;
    void follower.lapse();
    await world.time.settle();
    lease.restart();
    renew();
    await apply('a1:5 a1:8');
    expect(held()).toEqual([]);
    worker.resolve();
    await world.time.settle();
    expect(membership.written).toEqual([{ acked: 8, surrendered: 8 }]);
    expect(held()).toEqual([]);
  });
});

describe('leaving', () => {
  it('drains, then says surrendered and leaving in one write, and takes nothing more', async () => {
    await apply('a1:5 b1:5');
    heard();
    const worker = deferred();
    shards.get(0)!.worker = worker.promise;
    const left = follower.leave('drain');
    await world.time.settle();
    expect(membership.written).toEqual([]);
    worker.resolve();
    await world.time.settle();
    await left;
    expect(heard()).toContain('released 0 drain');
    expect(membership.written).toEqual([
      { acked: 5, surrendered: 5, leaving: true, rejoinWindow: 0 },
    ]);
    await apply('a1:9 b1:5');
    expect(held()).toEqual([]);
  });

  it('can be taken back', async () => {
    await apply('a1:5');
    await follower.leave('drain');
    await follower.resume();
    expect(membership.written.at(-1)).toEqual({ leaving: false, rejoinWindow: 0 });
    await apply('a1:9');
    expect(held()).toEqual([0]);
  });

  it('for good announces nothing', async () => {
    await apply('a1:5');
    heard();
    await follower.leave('shutdown');
    expect(heard()).toEqual(['released 0 shutdown']);
  });
});

describe('the end of the registration', () => {
  it('releases everything and writes nothing', async () => {
    await apply('a1:5');
    heard();
    const closed = follower.close('lease-lost');
    expect(held()).toEqual([]);
    await world.time.settle();
    await closed;
    expect(heard()).toEqual(['started -0 =', 'released 0 lease-lost']);
    expect(membership.written).toEqual([]);
    await apply('a1:9');
    expect(held()).toEqual([]);
  });

  it('hands what still drains over to the next one, which waits for it', async () => {
    await apply('a1:5');
    heard();
    const worker = deferred();
    shards.get(0)!.worker = worker.promise;
    void follower.close('evicted');
    follower = newFollower();
    await apply('a1:9');
    expect(held()).toEqual([]);
    worker.resolve();
    await world.time.settle();
    follower.reconcile();
    await world.time.settle();
    expect(heard()).toEqual([
      'started -0 =',
      'released 0 evicted',
      'acquired 0 9',
      'completed 0 +0 -0',
    ]);
  });

  it('leaves its announcement to the next one, which concludes it when that has ended', async () => {
    await apply('a1:5');
    heard();
    const started = hooks.hold('started');
    void follower.close('evicted');
    follower = newFollower();
    await apply('b1:9', { members: ['a1'] });
    expect(heard()).toEqual(['started -0 =']);
    started.resolve();
    await world.time.settle();
    expect(heard()).toEqual(['end of started', 'released 0 evicted', 'completed + -0']);
  });

  it('is noticed by a promise that cannot be stored', async () => {
    await apply('a1:5');
    membership.promise = () =>
      Promise.reject(new NoNodeError({ operation: 'set', path: '/group/instances/a' }));
    await apply('a1:5!6', unsettled);
    expect(evictions).toBe(1);
  });
});

describe('the lease is needed', () => {
  const need = (): string | undefined => keeper.calls.at(-1);

  it('for nothing by whoever holds nothing in a settled group', async () => {
    await apply('b1:5', { members: ['a1'] });
    expect(need()).toBe('nothing');
  });

  it('by whoever is named in an unsettled plan', async () => {
    await apply('b1:5', { members: ['a1'], ...unsettled });
    expect(need()).toBe('holding');
  });

  it('by whoever holds, and while it drains', async () => {
    await apply('a1:5');
    expect(need()).toBe('holding');
    const worker = deferred();
    shards.get(0)!.worker = worker.promise;
    await apply('b1:9', { members: ['a1'] });
    expect(need()).toBe('holding');
    worker.resolve();
    await world.time.settle();
    expect(need()).toBe('nothing');
  });

  it('for leading by whoever leads', async () => {
    await apply('b1:5', { members: ['a1'] });
    follower.isLeading = true;
    expect(need()).toBe('leading');
    follower.isLeading = false;
    expect(need()).toBe('nothing');
  });
});

describe('the assignment', () => {
  it('tells of every change, the present one first, and completes', async () => {
    await apply('a1:5 b1:5');
    const seen = new Recording(assignment.changes$);
    await apply('a1:5 a1:8');
    await apply('a1:5!9 a1:8', unsettled);
    assignment.complete();
    expect(seen.values.map(({ items, added, removed }) => ({ items, added, removed }))).toEqual([
      { items: [0], added: [0], removed: [] },
      { items: [0, 1], added: [1], removed: [] },
      { items: [1], added: [], removed: [0] },
    ]);
    expect(seen.completed).toBe(true);
  });

  it('has the tokens, which print', async () => {
    await apply('a1:5 a1:5');
    expect(assignment.current).toMatchObject({ epoch: 5, total: 2, items: [0, 1] });
    expect(assignment.current.tokens.get(1)).toBe(5n);
    expect(JSON.stringify(assignment.current.tokens)).toBe('{"0":"5","1":"5"}');
  });

  it('emits before the acknowledgement, when an item is not owned any more', async () => {
    await apply('a1:5');
    shards.get(0)!.worker = new Promise(() => {});
    const seen = new Recording(assignment.changes$);
    follower.apply(planOf('a1:5!6', unsettled));
    expect(seen.last?.items).toEqual([]);
  });
});
