import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import {
  countHeld,
  equalMembers,
  isSame,
  membersOf,
  movesBetween,
  movesTo,
  quotaCounts,
  worldArbitrary,
} from '../../test/kit/strategy-worlds.js';
import { checkAssignment } from './check-assignment.js';
import { sticky } from './sticky.strategy.js';

const SEED = 5;

/** Members in any number of sets that overlap as they like, and items that ask for one of the sets. */
const overlapping = fc
  .record({ count: fc.integer({ min: 1, max: 6 }), kinds: fc.integer({ min: 1, max: 6 }) })
  .chain(({ count, kinds }) =>
    fc.record({
      sets: fc.array(fc.integer({ min: 1, max: 2 ** count - 1 }), {
        minLength: kinds,
        maxLength: kinds,
      }),
      items: fc.array(
        fc.tuple(
          fc.integer({ min: -1, max: kinds - 1 }),
          // Half of them with the first member: the least even start.
          fc.oneof(fc.constant(0), fc.integer({ min: -1, max: count - 1 })),
        ),
        { maxLength: 40, size: 'max' },
      ),
      count: fc.constant(count),
    }),
  );

function overlappingInput(world: typeof overlapping extends fc.Arbitrary<infer T> ? T : never) {
  const { count, sets, items } = world;
  const labels = Array.from({ length: count }, (_, member) =>
    Object.fromEntries(
      sets.map((set, kind) => [`kind${kind}`, (set >> member) & 1 ? 'yes' : 'no']),
    ),
  );
  return {
    members: membersOf(
      labels.map(() => 1),
      labels,
    ),
    total: items.length,
    current: Int32Array.from(items, ([, holder]) => holder),
    demands: sets.map((_, kind) => ({ labels: { [`kind${kind}`]: 'yes' } })),
    demandOf: Int32Array.from(items, ([demand]) => demand),
  };
}

/**
 * What the most and the least loaded hold at best: no set of members can hold less than what may go
 * nowhere else, nor more than what may go there at all (Hall's theorem says that this is enough).
 */
function bestExtremes(sets: readonly number[], count: number): { most: number; least: number } {
  let most = 0;
  let least = Infinity;
  for (let chosen = 1; chosen < 2 ** count; chosen++) {
    const size = chosen.toString(2).replaceAll('0', '').length;
    const captive = sets.filter((set) => (set & ~chosen) === 0).length;
    const possible = sets.filter((set) => (set & chosen) !== 0).length;
    most = Math.max(most, Math.ceil(captive / size));
    least = Math.min(least, Math.floor(possible / size));
  }
  return { most, least };
}

describe('sticky, with demands', () => {
  it('never violates a demand, places all that can be placed, and stays there (3,000 cases)', () => {
    fc.assert(
      fc.property(
        worldArbitrary({ members: 8, total: 60, weight: 5, demands: 6 }),
        (input: StrategyInput) => {
          const target = sticky(input);
          assert.equal(checkAssignment(input, target), undefined);
          assert(isSame(sticky(input), target), 'the same input gave another result');
          assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
        },
      ),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('is fair within groups that share no member, with the fewest moves for each (2,000 cases, all fair counts tried)', () => {
    fc.assert(
      fc.property(worldArbitrary({ members: 8, total: 40, weight: 5 }), (world) => {
        const members = world.members.map((member, index) => ({
          ...member,
          labels: { half: index % 2 === 0 ? 'even' : 'odd' },
        }));
        const demandOf = world.current.map((_, item) => (item % 3 === 0 ? 1 : 0));
        const demands = [{ labels: { half: 'even' } }, { labels: { half: 'odd' } }];
        const target = sticky({ ...world, members, demands, demandOf });
        for (const half of [0, 1]) {
          const inside = members.map((_, index) => index).filter((index) => index % 2 === half);
          const items = Array.from(demandOf.keys()).filter((item) => demandOf[item] === half);
          if (inside.length === 0) {
            assert(items.every((item) => target[item] === -1));
            continue;
          }
          const current = items.map((item) => inside.indexOf(world.current[item]!));
          const after = items.map((item) => inside.indexOf(target[item]!));
          const weights = inside.map((index) => members[index]!.weight);
          const fair = quotaCounts(items.length, weights);
          const held = countHeld(after, inside.length);
          assert(
            fair.some((counts) => isSame(counts, held)),
            `unfair: ${held.join()}`,
          );
          const fewest = Math.min(...fair.map((counts) => movesTo(counts, current)));
          assert.equal(movesBetween(current, after), fewest);
        }
      }),
      { numRuns: 2_000, seed: SEED },
    );
  });

  it('leaves nobody with more than one above or below the best possible, however demands overlap (5,000 cases, every set of members tried)', () => {
    fc.assert(
      fc.property(overlapping, (world) => {
        const input = overlappingInput(world);
        const target = sticky(input);
        assert.equal(checkAssignment(input, target), undefined);
        const everyone = 2 ** world.count - 1;
        const sets = world.items.map(([demand]) => (demand < 0 ? everyone : world.sets[demand]!));
        const { most, least } = bestExtremes(sets, world.count);
        const held = countHeld(target, world.count);
        assert(Math.max(...held) <= most + 1, `${held.join()}, at best ${most} at most`);
        assert(Math.min(...held) >= least - 1, `${held.join()}, at best ${least} at least`);
        assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
      }),
      { numRuns: 5_000, seed: SEED },
    );
  });

  it('lets those that can go anywhere make room for those that cannot', () => {
    const members = membersOf([1, 1, 1, 1], [{ zone: 'a' }, { zone: 'a' }, {}, {}]);
    const input = {
      members,
      total: 20,
      current: new Int32Array(20).fill(-1),
      demands: [{ labels: { zone: 'a' } }],
      demandOf: Int32Array.from({ length: 20 }, (_, item) => (item < 10 ? 0 : -1)),
    };
    expect(countHeld(sticky(input), 4)).toEqual([5, 5, 5, 5]);
  });

  it('levels out demands that overlap through one another', () => {
    // Ten items for the first two, twenty for the last two: all can have ten.
    const labels = [
      { left: 'yes' },
      { left: 'yes', right: 'yes' },
      { right: 'yes' },
    ] as readonly Record<string, string>[];
    const input = {
      members: membersOf([1, 1, 1], labels),
      total: 30,
      current: new Int32Array(30).fill(-1),
      demands: [{ labels: { left: 'yes' } }, { labels: { right: 'yes' } }],
      demandOf: Int32Array.from({ length: 30 }, (_, item) => (item < 10 ? 0 : 1)),
    };
    expect(countHeld(sticky(input), 3)).toEqual([10, 10, 10]);
  });

  it('gives a newcomer its part of many small groups', () => {
    const demands = Array.from({ length: 12 }, (_, index) => ({
      labels: { [`job${index}`]: 'yes' },
    }));
    const all = Object.fromEntries(demands.map((_, index) => [`job${index}`, 'yes']));
    const input = {
      members: membersOf([1, 1, 1], [all, all, all]),
      total: 12,
      current: Int32Array.from({ length: 12 }, (_, item) => item % 2),
      demands,
      demandOf: Int32Array.from({ length: 12 }, (_, item) => item),
    };
    const target = sticky(input);
    expect(countHeld(target, 3)).toEqual([4, 4, 4]);
    expect(movesBetween(input.current, target)).toBe(4);
  });

  it('leaves out what nobody may hold and balances the rest', () => {
    const input = {
      members: equalMembers(2),
      total: 5,
      current: Int32Array.of(0, 0, 0, 0, 0),
      demands: [{ id: 'nobody' }, { id: 'm0001' }, { id: 'm0000', labels: { disk: 'fast' } }],
      demandOf: Int32Array.of(0, 1, 2, -1, -1),
    };
    expect(Array.from(sticky(input))).toEqual([-1, 1, -1, 0, 0]);
  });
});
