import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { LargestFirstHeap } from './largest-first.heap.js';

describe('LargestFirstHeap', () => {
  it('has the first of the largest on top, whatever changes (3,000 cases)', () => {
    const value = fc.integer({ min: -5, max: 5 });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 20 }),
        fc.array(fc.tuple(fc.nat(), value), { maxLength: 30 }),
        (start, changes) => {
          const values = Float64Array.from(start);
          const heap = new LargestFirstHeap(values);
          for (const [position, changed] of changes) {
            assert.equal(heap.top, values.indexOf(Math.max(...values)));
            values[position % values.length] = changed;
            heap.settle(position % values.length);
          }
          assert.equal(heap.top, values.indexOf(Math.max(...values)));
        },
      ),
      { numRuns: 3_000, seed: 10 },
    );
  });
});
