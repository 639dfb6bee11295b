import { describe, expect, it } from '@jest/globals';
import { equalMembers } from '../../test/kit/strategy-worlds.js';
import { odevity } from './odevity.strategy.js';

const current = new Int32Array(8).fill(-1);
const ASCENDING = [0, 0, 1, 1, 2, 2, 0, 1];
const DESCENDING = [2, 2, 1, 1, 0, 0, 2, 1];

describe('odevity', () => {
  // From ElasticJob's description: in reverse if the hash of the name is even.
  it.each([
    ['a', 'odd, 97', ASCENDING],
    ['b', 'even, 98', DESCENDING],
    ['ab', 'odd, 3105', ASCENDING],
    ['zzzzzz', 'even and negative, -685785664', DESCENDING],
    ['zzzzzy', 'odd and negative, -685785665', ASCENDING],
    ['polygenelubricants', 'even, the lowest there is', DESCENDING],
    ['', 'even, 0', DESCENDING],
  ])('of %j, whose hash is %s', (name, _, expected) => {
    const target = odevity({ members: equalMembers(3), total: 8, current, name });
    expect(Array.from(target)).toEqual(expected);
  });

  it('takes no name for an empty one', () => {
    expect(Array.from(odevity({ members: equalMembers(3), total: 8, current }))).toEqual(
      DESCENDING,
    );
  });
});
