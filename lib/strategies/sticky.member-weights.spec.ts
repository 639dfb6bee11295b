import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import {
  countHeld,
  isSame,
  membersOf,
  movesBetween,
  movesTo,
  quotaCounts,
  worldArbitrary,
} from '../../test/kit/strategy-worlds.js';
import { sticky } from './sticky.strategy.js';

const SEED = 2;

function inputOf(weights: readonly number[], current: readonly number[]): StrategyInput {
  return {
    members: membersOf(weights),
    total: current.length,
    current: Int32Array.from(current),
  };
}

/** By whole numbers only: whether `count` is `total · weight / sum` rounded down or up. */
function isWithinQuota(count: number, total: number, weight: number, sum: number): boolean {
  return Math.abs(count * sum - total * weight) < sum;
}

/** Tries every assignment. */
function fewestMovesByTrying({ members, current }: StrategyInput): number {
  const sum = members.reduce((whole, { weight }) => whole + weight, 0);
  let fewest = Infinity;
  const choose = (item: number, held: number[], moves: number): void => {
    if (moves >= fewest) return;
    if (item === current.length) {
      const isFair = members.every(({ weight }, member) =>
        isWithinQuota(held[member]!, current.length, weight, sum),
      );
      if (isFair) fewest = moves;
      return;
    }
    for (let member = 0; member < members.length; member++) {
      held[member]! += 1;
      choose(item + 1, held, moves + (current[item] === member ? 0 : 1));
      held[member]! -= 1;
    }
  };
  choose(
    0,
    members.map(() => 0),
    0,
  );
  return fewest;
}

describe('sticky, with weights of members', () => {
  it('gives everyone its exact share rounded down or up, and stays there (8,000 cases)', () => {
    fc.assert(
      fc.property(worldArbitrary({ members: 12, total: 80, weight: 50 }), (input) => {
        const { members, total, current } = input;
        const before = current.slice();
        const target = sticky(input);
        const sum = members.reduce((whole, { weight }) => whole + weight, 0);
        const held = countHeld(target, members.length);
        assert.equal(
          held.reduce((all, holds) => all + holds, 0),
          total,
        );
        for (const [member, { weight }] of members.entries()) {
          assert(isWithinQuota(held[member]!, total, weight, sum), `unfair: ${held.join()}`);
        }
        assert(isSame(before, current), 'the input was changed');
        assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
      }),
      { numRuns: 8_000, seed: SEED },
    );
  });

  it('moves no more than the best of all fair assignments (2,000 cases, each tried exhaustively)', () => {
    fc.assert(
      fc.property(worldArbitrary({ members: 4, total: 6, weight: 6 }), (input) => {
        assert.equal(movesBetween(input.current, sticky(input)), fewestMovesByTrying(input));
      }),
      { numRuns: 2_000, seed: SEED },
    );
  });

  it('moves no more than the best of all fair counts (3,000 larger cases)', () => {
    fc.assert(
      fc.property(worldArbitrary({ members: 7, total: 60, weight: 12 }), (input) => {
        const weights = input.members.map(({ weight }) => weight);
        const fewest = Math.min(
          ...quotaCounts(input.total, weights).map((counts) => movesTo(counts, input.current)),
        );
        assert.equal(movesBetween(input.current, sticky(input)), fewest);
      }),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('keeps to the rule with weights that are no whole numbers, however far apart (3,000 cases)', () => {
    const weight = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(weight, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 200 }),
        (weights, total) => {
          const input = inputOf(
            weights,
            Array.from({ length: total }, () => -1),
          );
          const target = sticky(input);
          const sum = weights.reduce((whole, each) => whole + each, 0);
          for (const [member, holds] of countHeld(target, weights.length).entries()) {
            const share = (total * weights[member]!) / sum;
            assert(Math.abs(holds - share) < 1 + 1e-8, `${holds} for a share of ${share}`);
          }
          assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
        },
      ),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('takes a share that is whole but for rounding as whole', () => {
    const current = Array.from({ length: 10 }, () => -1);
    expect(countHeld(sticky(inputOf([0.1, 0.2, 0.7], current)), 3)).toEqual([1, 2, 7]);
    expect(countHeld(sticky(inputOf([1e308, 1.5e308], current)), 2)).toEqual([4, 6]);
  });

  it('gives a seat that saves no move to the larger remainder', () => {
    // 4 · 1/7, 4 · 2/7, 4 · 4/7: 0.57, 1.14, 2.29.
    expect(Array.from(sticky(inputOf([1, 2, 4], [-1, -1, -1, -1])))).toEqual([0, 1, 2, 2]);
    // Where it saves one, that counts more.
    expect(Array.from(sticky(inputOf([1, 2, 4], [1, 1, -1, -1])))).toEqual([1, 1, 2, 2]);
  });
});
