import { beforeEach, describe, expect, it } from '@jest/globals';
import { Recording } from '../../test/conformance/recording.js';
import { coordinatorOptions, RecordingHooks } from '../../test/kit/coordinators.js';
import { MemoryWorld } from '../../test/kit/memory-world.js';
import { planOf } from '../../test/kit/plans.js';
import type { OwnersChange } from '../interfaces/sharding-values.interface.js';
import { Coordinator } from './coordinator.js';
import { Owners } from './owners.js';
import type { Plan } from './plan.js';

let plan: Plan | undefined;
let owners: Owners;
let compared: number;

beforeEach(() => {
  plan = undefined;
  owners = new Owners(() => plan);
  compared = 0;
});

/** A plan as `planOf` makes it, which counts how often it is compared with the one before. */
function see(words: string, change: Parameters<typeof planOf>[1] = {}): void {
  const next = planOf(words, change);
  const { members } = next;
  plan = Object.defineProperty(next, 'members', {
    get: () => {
      compared += 1;
      return members;
    },
  });
  owners.update();
}

const addressed = (words: string, addresses: Record<string, string>): Plan => {
  const next = planOf(words);
  const members = next.members.map((one) => ({ ...one, address: addresses[one.incarnation] }));
  return { ...next, members };
};

const changes = ({ values }: Recording<OwnersChange>) => values.map(({ changed }) => changed);

describe('the owners', () => {
  it('are not known before the first plan', () => {
    expect([owners.total, owners.leaderId, owners.of(0)]).toEqual([0, undefined, undefined]);
  });

  it('are those of the newest plan, also before it has been carried out', () => {
    see('a1:2 b1:3');
    plan = addressed('b1:4 - b1:3', { b1: 'http://b' });
    expect(owners.total).toBe(3);
    expect([0, 1, 2, 3, -1, 0.5].map((item) => owners.of(item)?.instanceId)).toEqual([
      'b',
      undefined,
      'b',
      undefined,
      undefined,
      undefined,
    ]);
    expect(owners.of(0)).toEqual({ instanceId: 'b', address: 'http://b' });
  });

  it('are those of the last plan while there is no other', () => {
    see('a1:2 b1:3');
    plan = undefined;
    owners.update();
    expect([owners.total, owners.leaderId, owners.of(1)]).toEqual([2, 'z', { instanceId: 'b' }]);
  });

  it('have no leader who has resigned', () => {
    see('a1:2');
    expect(owners.leaderId).toBe('z');
    const office = { id: 'z', incarnation: 'z1', lease: 0, term: 1, owed: 0 };
    see('a1:2', { office });
    expect(owners.leaderId).toBeUndefined();
  });
});

describe('the changes of owners', () => {
  it('begin with everything, as soon as there is a plan', () => {
    const early = new Recording(owners.changes$);
    expect(early.values).toEqual([]);
    see('a1:2 - b1:3');
    const late = new Recording(owners.changes$);
    const everything = [{ epoch: 3, total: 3, changed: [0, 1, 2] }];
    expect(early.values).toEqual(everything);
    expect(late.values).toEqual(everything);
  });

  it('are the items that moved, came free or were taken', () => {
    see('a1:2 a1:2 b1:3 -');
    const seen = new Recording(owners.changes$);
    see('a1:2 b1:5 - b1:5');
    see('a1:2 b1:5 b1:6 b1:5');
    expect(seen.values.slice(1)).toEqual([
      { epoch: 5, total: 4, changed: [1, 2, 3] },
      { epoch: 6, total: 4, changed: [2] },
    ]);
  });

  it('are none where a plan only takes back, takes office or grants anew', () => {
    see('a1:2 b1:3');
    const seen = new Recording(owners.changes$);
    see('a1:2 b1:3!4', { settled: false });
    see('a1:2 b1:5', { members: ['c1'] });
    see('a1:2 b1:5', { epoch: 6, office: planOf('').office });
    owners.update();
    expect(seen.values).toHaveLength(1);
  });

  it('go by the owner, not by its place in the plan or its registration', () => {
    see('b1:2 c1:3 -');
    const seen = new Recording(owners.changes$);
    // Everybody's index is another one now, and b has registered anew.
    see('b2:4 c1:3 a1:4');
    expect(changes(seen).slice(1)).toEqual([[2]]);
  });

  it('tell of another address', () => {
    plan = addressed('a1:2 b1:2', { a1: 'http://a:1', b1: 'http://b:1' });
    owners.update();
    const seen = new Recording(owners.changes$);
    plan = addressed('a2:3 b1:2', { a2: 'http://a:2', b1: 'http://b:1' });
    owners.update();
    expect(changes(seen).slice(1)).toEqual([[0]]);
  });

  it('are all items where the total is another one', () => {
    see('a1:2 a1:2');
    const seen = new Recording(owners.changes$);
    see('a1:3 a1:3 b1:3');
    see('a1:4');
    expect(changes(seen).slice(1)).toEqual([[0, 1, 2], [0]]);
    expect(seen.last).toEqual({ epoch: 4, total: 1, changed: [0] });
  });

  it('leave out what a listener has missed before it came', () => {
    const seen = new Recording(owners.changes$);
    see('a1:2 a1:2');
    seen.stop();
    see('a1:2 b1:3');
    const again = new Recording(owners.changes$);
    see('b1:4 b1:3');
    expect(changes(again)).toEqual([[0, 1], [0]]);
    expect(seen.values).toHaveLength(1);
  });

  it('are found once for all who listen, and not while nobody does', () => {
    see('a1:2 a1:2');
    see('a1:2 b1:3');
    expect(compared).toBe(0);
    const listeners = [1, 2, 3].map(() => new Recording(owners.changes$));
    see('b1:4 b1:3');
    // Both sides of one comparison.
    expect(compared).toBe(2);
    expect(listeners.map(changes)).toEqual([1, 2, 3].map(() => [[0, 1], [0]]));
    for (const listener of listeners) listener.stop();
    see('c1:5 b1:3');
    expect(compared).toBe(2);
  });

  it('complete', () => {
    see('a1:2');
    const seen = new Recording(owners.changes$);
    owners.complete();
    const late = new Recording(owners.changes$);
    expect([seen.completed, late.completed, late.error]).toEqual([true, true, undefined]);
    expect(changes(late)).toEqual([[0]]);
  });
});

describe('a member that loses its session', () => {
  it('goes on with the owners it knew, and tells only what has changed meanwhile', async () => {
    const world = new MemoryWorld();
    const environment = world.environment();
    const own = world.cluster.registry({ environment, label: 'member' });
    const options = coordinatorOptions();
    const member = new Coordinator(own, options, new RecordingHooks(), environment);
    void member.start();
    await world.time.runUntil(() => member.items.length === 4);
    const seen = new Recording(member.owners$);
    own.link.cut();
    await world.time.runUntil(() => member.status === 'lapsed' || member.status === 'connecting');
    await world.time.advance(2 * world.sessionTimeout);
    expect([member.items, member.total, member.ownerOf(0)]).toEqual([[], 4, { instanceId: 'a' }]);
    own.link.heal();
    await world.time.runUntil(() => member.items.length === 4);
    expect(seen.values.slice(1)).toEqual([]);
  });
});
