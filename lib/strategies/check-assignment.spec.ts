import { describe, expect, it } from '@jest/globals';
import { membersOf } from '../../test/kit/strategy-worlds.js';
import { checkAssignment } from './check-assignment.js';

const input = {
  members: membersOf([1, 1, 1], [{ zone: 'a' }, { zone: 'b' }]),
  total: 4,
  current: new Int32Array(4).fill(-1),
  demands: [{ labels: { zone: 'a' } }, { id: 'm0001' }, { id: 'gone' }],
  demandOf: Int32Array.of(-1, 0, 1, 2),
};

describe('checkAssignment', () => {
  it.each([
    [[2, 0, 1, -1]],
    [Int32Array.of(0, 0, 1, -1)],
    [{ length: 4, 0: 1, 1: 0, 2: 1, 3: -1 }],
  ])('finds nothing wrong with %j', (result) => {
    expect(checkAssignment(input, result)).toBeUndefined();
  });

  it.each([
    [undefined, 'it returned undefined instead of a list of indices'],
    [null, 'it returned null instead of a list of indices'],
    ['0012', 'it returned "0012" instead of a list of indices'],
    [{}, 'it returned an object instead of a list of indices'],
    [Promise.resolve([]), 'it returned an object instead of a list of indices'],
    [[0, 0, 1], 'it returned 3 owners for 4 items'],
    [[0, 0, 1, -1, 0], 'it returned 5 owners for 4 items'],
    [[0, 0.5, 1, -1], 'item 1 went to 0.5, which is not a whole number'],
    [[0, 0, Number.NaN, -1], 'item 2 went to NaN, which is not a whole number'],
    [[0, '0', 1, -1], 'item 1 went to "0", which is not a whole number'],
    [[undefined, 0, 1, -1], 'item 0 went to undefined, which is not a whole number'],
    [[3, 0, 1, -1], 'item 0 went to member 3, and there are 3'],
    [[0, 0, -2, -1], 'item 2 went to member -2, and there are 3'],
    [[-1, 0, 1, -1], 'item 0 has no owner, and any member may hold it'],
    [[0, -1, 1, -1], 'item 1 has no owner, although a member satisfies its demand'],
    [[0, 2, 1, -1], 'item 1 went to m0002, which does not satisfy {"labels":{"zone":"a"}}'],
    [[0, 0, 0, -1], 'item 2 went to m0000, which does not satisfy {"id":"m0001"}'],
    [[0, 0, 1, 0], 'item 3 went to m0000, which does not satisfy {"id":"gone"}'],
    [[0, 1, 0, 9], 'item 1 went to m0001, which does not satisfy {"labels":{"zone":"a"}}'],
  ])('says what is wrong with %j', (result, expected) => {
    expect(checkAssignment(input, result)).toBe(expected);
  });

  it('asks for an owner of everything where there are no demands', () => {
    const { members, total, current } = input;
    expect(checkAssignment({ members, total, current }, [0, 1, 2, 0])).toBeUndefined();
    expect(checkAssignment({ members, total, current }, [0, 1, 2, -1])).toMatch(/^item 3 /);
  });
});
