import { describe, expect, it } from '@jest/globals';
import { fewestMoves } from '../../demo/fewest-moves.js';

/** By trying every balanced distribution of the total. */
function byTrying(held: readonly number[], total: number): number {
  const low = Math.floor(total / held.length);
  const choices = (index: number, left: number): number[][] => {
    if (index === held.length) return left === 0 ? [[]] : [];
    return [low, low + 1]
      .filter((seats) => seats <= left)
      .flatMap((seats) => choices(index + 1, left - seats).map((rest) => [seats, ...rest]));
  };
  const received = (seats: readonly number[]) =>
    seats.reduce((sum, count, index) => sum + Math.max(0, count - held[index]!), 0);
  return Math.min(...choices(0, total).map(received));
}

describe('the fewest moves possible', () => {
  it.each([
    { held: [24, 0], total: 24, moves: 12 },
    { held: [8, 8, 8, 0], total: 24, moves: 6 },
    { held: [6, 6, 6], total: 24, moves: 6 },
    { held: [12], total: 24, moves: 12 },
    { held: [4, 3, 3], total: 10, moves: 0 },
    { held: [4, 4, 2, 0], total: 10, moves: 2 },
  ])('for $held of $total are $moves', ({ held, total, moves }) => {
    expect(fewestMoves(held, total)).toBe(moves);
  });

  it('are what trying everything gives', () => {
    for (let a = 0; a <= 7; a += 1) {
      for (let b = 0; a + b <= 7; b += 1) {
        for (let c = 0; a + b + c <= 7; c += 1) {
          const held = [a, b, c, 0];
          expect([held, fewestMoves(held, 7)]).toEqual([held, byTrying(held, 7)]);
        }
      }
    }
  });
});
