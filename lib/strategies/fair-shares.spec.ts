import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { levelOut, wholeShares } from './fair-shares.js';

const SEED = 9;
const vessel = fc.record({
  weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
  base: fc.double({ min: 0, max: 1_000, noNaN: true }),
});
const vessels = fc.array(vessel, { minLength: 1, maxLength: 12 });
const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);

describe('levelOut', () => {
  it('pours it all, and whoever gets some stands no higher than anybody (5,000 cases)', () => {
    fc.assert(
      fc.property(vessels, fc.double({ min: 0.001, max: 10_000, noNaN: true }), (given, amount) => {
        const weights = Float64Array.from(given, ({ weight }) => weight);
        const base = Float64Array.from(given, ({ base: filled }) => filled);
        const shares = levelOut(amount, weights, base);
        assert(Math.abs(sumOf(shares) - amount) < 1e-6);
        const levels = shares.map((share, index) => (share + base[index]!) / weights[index]!);
        const lowest = Math.min(...levels);
        for (const [index, share] of shares.entries()) {
          assert(share >= 0);
          if (share > 0) assert(levels[index]! <= lowest * (1 + 1e-9) + 1e-9);
        }
      }),
      { numRuns: 5_000, seed: SEED },
    );
  });

  it('gives nothing to those that are full', () => {
    const shares = levelOut(4, Float64Array.of(1, 1, 1), Float64Array.of(9, 0, 2));
    expect(Array.from(shares)).toEqual([0, 3, 1]);
  });
});

describe('wholeShares', () => {
  it('adds up exactly, each less than one off (5,000 cases)', () => {
    fc.assert(
      fc.property(vessels, fc.integer({ min: 0, max: 1_000_000 }), (given, amount) => {
        const shares = levelOut(
          amount,
          Float64Array.from(given, ({ weight }) => weight),
        );
        const whole = wholeShares(shares, amount);
        assert.equal(sumOf(whole), amount);
        for (const [index, share] of whole.entries()) {
          assert(Number.isInteger(share) && Math.abs(share - shares[index]!) < 1 + 1e-6);
        }
      }),
      { numRuns: 5_000, seed: SEED },
    );
  });
});
