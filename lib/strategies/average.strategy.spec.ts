import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countHeld, equalMembers } from '../../test/kit/strategy-worlds.js';
import { average } from './average.strategy.js';

function averageOf(count: number, total: number): number[] {
  const current = new Int32Array(total).fill(-1);
  return Array.from(average({ members: equalMembers(count), total, current }));
}

describe('average', () => {
  // From ElasticJob's description: ⌊T/N⌋ in a row for each, what is left over one each to the first.
  it.each([
    [3, 9, [0, 0, 0, 1, 1, 1, 2, 2, 2]],
    [3, 8, [0, 0, 1, 1, 2, 2, 0, 1]],
    [3, 10, [0, 0, 0, 1, 1, 1, 2, 2, 2, 0]],
    [5, 3, [0, 1, 2]],
    [1, 4, [0, 0, 0, 0]],
    [2, 0, []],
  ])('gives %d members their part of %d items', (count, total, expected) => {
    expect(averageOf(count, total)).toEqual(expected);
  });

  it('is balanced to within one, the first with more (2,000 cases)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 400 }),
        (count, total) => {
          const held = countHeld(averageOf(count, total), count);
          const each = Math.floor(total / count);
          for (const [member, holds] of held.entries()) {
            assert.equal(holds, each + (member < total % count ? 1 : 0));
          }
        },
      ),
      { numRuns: 2_000, seed: 7 },
    );
  });
});
