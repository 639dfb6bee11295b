import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { heaviestFirst } from './heaviest-first.js';

const MOST = 2 ** 50;

describe('heaviestFirst', () => {
  it('sorts as comparing does, the first of equals first', () => {
    const amount = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: MOST }));
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 60 }), (values) => {
        const amounts = Float64Array.from(values);
        const compared = [...amounts.keys()].toSorted((a, b) => amounts[b]! - amounts[a]! || a - b);
        expect([...heaviestFirst(amounts, Math.max(0, ...values))]).toEqual(compared);
      }),
      { numRuns: 3_000 },
    );
  });
});
