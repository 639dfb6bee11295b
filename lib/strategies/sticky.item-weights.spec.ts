import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { equalMembers, isSame, worldArbitrary } from '../../test/kit/strategy-worlds.js';
import { sticky } from './sticky.strategy.js';

const SEED = 4;

const sumOf = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0);

function loadsOf(owners: ArrayLike<number>, { members, itemWeights }: StrategyInput): number[] {
  const loads = members.map(() => 0);
  for (const [item, owner] of Array.from(owners).entries()) {
    if (owner >= 0) loads[owner]! += itemWeights![item]!;
  }
  return loads;
}

function fairShares({ members, itemWeights }: StrategyInput): number[] {
  const whole = sumOf(itemWeights!);
  const sum = members.reduce((all, { weight }) => all + weight, 0);
  return members.map(({ weight }) => (whole * weight) / sum);
}

/** Nothing is heavier than an even share, so that every member's fair share can be had. */
function hasNothingOversized({ members, itemWeights, total }: StrategyInput): boolean {
  return total > 0 && Math.max(...itemWeights!) <= sumOf(itemWeights!) / members.length;
}

const whole = fc.integer({ min: 1, max: 20 });
const broken = fc.double({ min: 0.001, max: 1_000, noNaN: true });

describe('sticky, with weights of items', () => {
  it.each([
    ['whole numbers', whole],
    ['broken numbers', broken],
  ])(
    'loads everyone to less than the heaviest item away from its fair share (%s, 3,000 cases)',
    (_, itemWeight) => {
      const world = worldArbitrary({ members: 7, total: 80, weight: 5, itemWeight });
      fc.assert(
        fc.property(world.filter(hasNothingOversized), (input) => {
          const loads = loadsOf(sticky(input), input);
          const heaviest = Math.max(...input.itemWeights!);
          for (const [member, share] of fairShares(input).entries()) {
            const distance = Math.abs(loads[member]! - share);
            assert(distance < heaviest * (1 + 1e-9), `${loads.join()} for ${share} at ${member}`);
          }
        }),
        { numRuns: 3_000, seed: SEED },
      );
    },
  );

  it('moves only what nobody has, or what leaves a member above its share or makes room for something heavier (3,000 cases)', () => {
    const world = worldArbitrary({ members: 7, total: 60, weight: 5, itemWeight: whole });
    fc.assert(
      fc.property(world.filter(hasNothingOversized), (input) => {
        const { current, itemWeights } = input;
        const target = sticky(input);
        const before = loadsOf(current, input);
        const shares = fairShares(input);
        for (const [item, holder] of current.entries()) {
          if (holder < 0 || target[item] === holder || before[holder]! > shares[holder]!) continue;
          const gained = Array.from(target.keys()).some(
            (other) =>
              target[other] === holder &&
              current[other] !== holder &&
              itemWeights![other]! > itemWeights![item]!,
          );
          assert(gained, `item ${item} left a member that was not above its share`);
        }
      }),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('gives every item to somebody, stays there, and leaves its input alone, oversized items or not (5,000 cases)', () => {
    const itemWeight = fc.oneof(whole, broken, fc.constantFrom(1e-9, 1e9));
    fc.assert(
      fc.property(worldArbitrary({ members: 7, total: 50, weight: 5, itemWeight }), (input) => {
        const copy = { current: input.current.slice(), weights: input.itemWeights!.slice() };
        const target = sticky(input);
        assert(target.every((owner) => owner >= 0 && owner < input.members.length));
        assert(isSame(target, sticky(input)), 'the same input gave another result');
        assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
        assert(isSame(copy.current, input.current) && isSame(copy.weights, input.itemWeights!));
      }),
      { numRuns: 5_000, seed: SEED },
    );
  });

  it('levels the others out around items that outweigh an even share (2,000 cases)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 8 }),
        fc.integer({ min: 1, max: 2 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 60 }),
        fc.nat(),
        (count, giants, small, place) => {
          const itemWeights = Float64Array.from([...Array(giants).fill(10_000), ...small]);
          const current = Int32Array.from(itemWeights, (_, item) => (item * place) % count);
          const input = {
            members: equalMembers(count),
            total: itemWeights.length,
            current,
            itemWeights,
          };
          const loads = loadsOf(sticky(input), input);
          const share = sumOf(small) / (count - giants);
          const heaviest = Math.max(...small);
          const huge = loads.filter((load) => load >= 10_000);
          assert(
            Math.max(...huge) < 10_000 + heaviest,
            'a giant has more than its share beside it',
          );
          assert.equal(huge.length, giants);
          for (const load of loads.filter((each) => each < 10_000)) {
            // Small items that outweigh an even share of the small are dealt out first in their turn.
            if (heaviest <= share) assert(Math.abs(load - share) < heaviest, loads.join());
          }
        },
      ),
      { numRuns: 2_000, seed: SEED },
    );
  });

  it('counts items that weigh the same, whatever it is', () => {
    const input = {
      members: equalMembers(3),
      total: 7,
      current: Int32Array.of(0, 0, 0, 0, 1, 1, 2),
    };
    const itemWeights = new Float64Array(7).fill(0.3);
    expect(Array.from(sticky({ ...input, itemWeights }))).toEqual(Array.from(sticky(input)));
  });

  it('gives a newcomer its share and moves nothing else', () => {
    const input = {
      members: equalMembers(3),
      total: 6,
      current: Int32Array.of(0, 0, 0, 1, 1, 1),
      itemWeights: Float64Array.of(3, 2, 1, 3, 2, 1),
    };
    const target = sticky(input);
    expect(Array.from(target)).toEqual([0, 2, 0, 1, 2, 1]);
    expect(loadsOf(target, input)).toEqual([4, 4, 4]);
  });
});
