import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { countHeld, equalMembers, isSame, movesBetween } from '../../test/kit/strategy-worlds.js';
import { sticky } from './sticky.strategy.js';

const SEED = 1;

function inputOf(count: number, current: ArrayLike<number>): StrategyInput {
  return { members: equalMembers(count), total: current.length, current: Int32Array.from(current) };
}

/**
 * What any assignment balanced to within one has to move at least: everything that nobody has, and
 * what each holds beyond its seats, if the extra seats stand where they save the most.
 */
function fewestMoves(current: ArrayLike<number>, count: number): number {
  const held = countHeld(current, count).toSorted((a, b) => b - a);
  const base = Math.floor(current.length / count);
  const extra = current.length % count;
  const orphans = Array.from(current).filter((holder) => holder < 0).length;
  return held.reduce(
    (moves, holds, rank) => moves + Math.max(0, holds - base - (rank < extra ? 1 : 0)),
    orphans,
  );
}

/** The same by trying every assignment: slow, and beyond doubt. */
function fewestMovesByTrying(current: readonly number[], count: number): number {
  const base = Math.floor(current.length / count);
  let fewest = Infinity;
  const choose = (item: number, held: number[], moves: number): void => {
    if (moves >= fewest) return;
    if (item === current.length) {
      if (held.every((holds) => holds === base || holds === base + 1)) fewest = moves;
      return;
    }
    for (let member = 0; member < count; member++) {
      if (held[member]! > base) continue;
      held[member]! += 1;
      choose(item + 1, held, moves + (current[item] === member ? 0 : 1));
      held[member]! -= 1;
    }
  };
  choose(
    0,
    Array.from({ length: count }, () => 0),
    0,
  );
  return fewest;
}

const world = (maxMembers: number, maxTotal: number) =>
  fc
    .integer({ min: 1, max: maxMembers })
    .chain((count) =>
      fc.tuple(
        fc.constant(count),
        fc.array(fc.integer({ min: -1, max: count - 1 }), { maxLength: maxTotal, size: 'max' }),
      ),
    );

describe('sticky', () => {
  it('gives every item to exactly one member, balanced to within one, with the fewest moves, and stays there (20,000 cases)', () => {
    fc.assert(
      fc.property(world(12, 60), ([count, current]) => {
        const input = inputOf(count, current);
        const target = sticky(input);

        assert.equal(target.length, current.length);
        assert(
          target.every((holder) => holder >= 0 && holder < count),
          'an item has no owner',
        );
        const held = countHeld(target, count);
        assert(Math.max(...held) - Math.min(...held) <= 1, `unbalanced: ${held.join()}`);
        assert.equal(movesBetween(current, target), fewestMoves(current, count));

        assert(isSame(sticky(input), target), 'the same input gave another result');
        assert(isSame(input.current, current), 'the input was changed');
        assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
      }),
      { numRuns: 20_000, seed: SEED },
    );
  });

  it('moves no more than the best of all balanced assignments (2,000 cases, each tried exhaustively)', () => {
    fc.assert(
      fc.property(world(4, 6), ([count, current]) => {
        const fewest = fewestMovesByTrying(current, count);
        assert.equal(fewestMoves(current, count), fewest);
        assert.equal(movesBetween(current, sticky(inputOf(count, current))), fewest);
      }),
      { numRuns: 2_000, seed: SEED },
    );
  });

  it('moves ⌊N/(M+1)⌋ items to whoever joins, and nothing else (3,000 cases)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 400 }),
        fc.nat(),
        (count, total, place) => {
          const nobody = new Int32Array(total).fill(-1);
          const settled = sticky(inputOf(count, nobody));
          // The newcomer may be sorted in anywhere.
          const newcomer = place % (count + 1);
          const current = settled.map((holder) => (holder < newcomer ? holder : holder + 1));
          const target = sticky(inputOf(count + 1, current));
          const moved = Array.from(target.keys()).filter((item) => target[item] !== current[item]);
          assert.equal(moved.length, Math.floor(total / (count + 1)));
          assert(moved.every((item) => target[item] === newcomer));
        },
      ),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('moves the items of whoever leaves, and nothing else (3,000 cases)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 0, max: 400 }),
        fc.nat(),
        (count, total, choice) => {
          const settled = sticky(inputOf(count, new Int32Array(total).fill(-1)));
          const leaver = choice % count;
          const current = settled.map((holder) =>
            holder === leaver ? -1 : holder < leaver ? holder : holder - 1,
          );
          const target = sticky(inputOf(count - 1, current));
          assert(target.every((holder, item) => current[item]! < 0 || holder === current[item]));
        },
      ),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('gives the extra seats to those who hold the most, then to the first', () => {
    expect(Array.from(sticky(inputOf(3, [1, 1, 1, 1, 2])))).toEqual([1, 1, 0, 2, 2]);
    expect(Array.from(sticky(inputOf(3, [-1, -1, -1, -1])))).toEqual([0, 0, 1, 2]);
  });

  it('leaves some with nothing where there are fewer items than members, and takes nothing away', () => {
    expect(Array.from(sticky(inputOf(4, [3, 2])))).toEqual([3, 2]);
    expect(Array.from(sticky(inputOf(4, [])))).toEqual([]);
  });
});
