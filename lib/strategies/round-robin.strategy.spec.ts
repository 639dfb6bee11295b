import { describe, expect, it } from '@jest/globals';
import { equalMembers } from '../../test/kit/strategy-worlds.js';
import { roundRobin } from './round-robin.strategy.js';

const current = new Int32Array(8).fill(-1);
const FROM_FIRST = [0, 0, 1, 1, 2, 2, 0, 1];
const FROM_SECOND = [1, 1, 2, 2, 0, 0, 1, 2];
const FROM_THIRD = [2, 2, 0, 0, 1, 1, 2, 0];

describe('roundRobin', () => {
  // From ElasticJob's description: the members, rotated by the hash of the name, then average.
  it.each([
    ['c', '99 = 3 · 33', FROM_FIRST],
    ['a', '97 = 3 · 32 + 1', FROM_SECOND],
    ['b', '98 = 3 · 32 + 2', FROM_THIRD],
    ['zzzzzz', '-685785664, whose digits add up to 55 = 3 · 18 + 1', FROM_SECOND],
    ['zzzzzy', '-685785665, whose digits add up to 56 = 3 · 18 + 2', FROM_THIRD],
    // Java has no positive counterpart of it, and fails.
    ['polygenelubricants', '-2³¹, and 2 to an odd power is 2 modulo 3', FROM_THIRD],
    ['', '0', FROM_FIRST],
  ])('of %j, whose hash is %s', (name, _, expected) => {
    const target = roundRobin({ members: equalMembers(3), total: 8, current, name });
    expect(Array.from(target)).toEqual(expected);
  });

  it('takes no name for an empty one', () => {
    const target = roundRobin({ members: equalMembers(3), total: 8, current });
    expect(Array.from(target)).toEqual(FROM_FIRST);
  });
});
