import { beforeEach, describe, expect, it } from '@jest/globals';
import { Recording } from '../../test/conformance/recording.js';
import { RecordingHooks } from '../../test/kit/coordinators.js';
import { MemoryWorld } from '../../test/kit/memory-world.js';
import type { LeaderContext } from '../interfaces/sharding-values.interface.js';
import { instantOf, Lease } from './lease.js';
import { Leadership } from './leadership.js';

const LIMIT = 1_000;

class Hooks extends RecordingHooks {
  context: LeaderContext | undefined;
  wasLeader: boolean | undefined;
  leadership!: Leadership;

  override async leader(context: LeaderContext): Promise<void> {
    this.context = context;
    this.wasLeader = this.leadership.isLeader;
    await super.leader(context);
  }
}

let world: MemoryWorld;
let logged: string[];
let hooks: Hooks;
let lease: Lease;
let leadership: Leadership;

beforeEach(() => {
  world = new MemoryWorld();
  logged = [];
  const environment = world.environment(logged);
  hooks = new Hooks();
  lease = new Lease(environment.clock, 5_000, () => true);
  lease.renew(instantOf(environment.clock));
  leadership = new Leadership(environment, hooks, LIMIT);
  hooks.leadership = leadership;
});

const begin = async (term: number, isWanted = () => true): Promise<void> => {
  void leadership.begin(term, lease, isWanted);
  await world.time.settle();
};

describe('Leadership', () => {
  it('is told to the application, which finds so when it asks', async () => {
    expect(leadership.isLeader).toBe(false);
    await begin(7);
    expect(hooks.events).toEqual(['leader 7']);
    expect(hooks.context).toMatchObject({ term: 7n });
    expect(hooks.context?.signal.aborted).toBe(false);
    expect(hooks.wasLeader).toBe(true);
  });

  it('is covered by the lease', async () => {
    await begin(7);
    await world.time.advance(4_999);
    expect(leadership.isLeader).toBe(true);
    await world.time.advance(1);
    expect(leadership.isLeader).toBe(false);
  });

  it('ends in this order: not leader, signal, @OnLeader awaited, @OnLeaderLost', async () => {
    const work = hooks.hold('leader');
    const lost = hooks.hold('leaderLost');
    await begin(7);
    let seen: boolean | undefined;
    hooks.context!.signal.addEventListener('abort', () => (seen = leadership.isLeader));
    let isDone = false;
    void leadership.end().then(() => (isDone = true));
    expect(seen).toBe(false);
    await world.time.settle();
    expect(hooks.events).toEqual(['leader 7']);
    work.resolve();
    await world.time.settle();
    expect(hooks.events).toEqual(['leader 7', 'end of leader', 'leaderLost']);
    expect(isDone).toBe(false);
    lost.resolve();
    await world.time.settle();
    expect(isDone).toBe(true);
  });

  it('does not wait for ever', async () => {
    hooks.hold('leader');
    hooks.hold('leaderLost');
    await begin(7);
    let isDone = false;
    void leadership.end().then(() => (isDone = true));
    await world.time.advance(2 * LIMIT);
    expect(isDone).toBe(true);
    expect(logged).toEqual([
      'error @OnLeader did not end within 1000 ms after its signal; going on without it',
      'error @OnLeaderLost did not end within 1000 ms; going on without it',
    ]);
  });

  it('takes a rejection for an end', async () => {
    const work = hooks.hold('leader');
    await begin(7);
    const ended = leadership.end();
    work.reject(new Error('hook'));
    await ended;
    expect(hooks.events.at(-1)).toBe('leaderLost');
  });

  it('begins the next term only after the former one’s hooks have ended', async () => {
    const work = hooks.hold('leader');
    await begin(7);
    void leadership.end();
    await begin(9);
    expect(leadership.isLeader).toBe(false);
    expect(hooks.events).toEqual(['leader 7']);
    work.resolve();
    await world.time.settle();
    expect(hooks.events.filter((event) => event.startsWith('leader'))).toEqual([
      'leader 7',
      'leaderLost',
      'leader 9',
    ]);
    expect(leadership.isLeader).toBe(true);
  });

  it('does not begin a term that nobody wants any more by then', async () => {
    const work = hooks.hold('leader');
    await begin(7);
    void leadership.end();
    let isWanted = true;
    await begin(9, () => isWanted);
    isWanted = false;
    work.resolve();
    await world.time.settle();
    expect(leadership.isLeader).toBe(false);
    expect(hooks.events).not.toContain('leader 9');
  });

  it('has one term at a time', async () => {
    await begin(7);
    await begin(9);
    expect(hooks.events).toEqual(['leader 7']);
  });

  it('ends nothing where there is no term', async () => {
    await leadership.end();
    await leadership.end();
    expect(hooks.events).toEqual([]);
  });

  it('gives a late subscriber the current state, no state twice, and completes', async () => {
    const early = new Recording(leadership.changes$);
    await begin(7);
    const late = new Recording(leadership.changes$);
    await leadership.end();
    await leadership.end();
    leadership.complete();
    expect(early.values).toEqual([false, true, false]);
    expect(late.values).toEqual([true, false]);
    expect(late.completed).toBe(true);
  });
});
