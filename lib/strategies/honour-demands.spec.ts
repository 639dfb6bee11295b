import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { average } from './average.strategy.js';
import { checkAssignment } from './check-assignment.js';
import { honourDemands } from './honour-demands.js';

const members = ['a', 'b', 'c'].map((id, index) => ({
  id,
  weight: 1,
  labels: { zone: index === 0 ? 'x' : 'y' },
}));
const demands = [{ id: 'b' }, { labels: { zone: 'y' } }, { id: '' }];

function input(demandOf: readonly number[], current?: readonly number[]): StrategyInput {
  const total = demandOf.length;
  return {
    members,
    total,
    current: Int32Array.from(current ?? demandOf.map(() => -1)),
    demands,
    demandOf: Int32Array.from(demandOf),
  };
}

describe('honourDemands', () => {
  it('leaves items without a demand, and those where it is met, as they are', () => {
    const view = input([-1, 0, 1, -1]);
    const owners = Int32Array.of(0, 1, 2, 0);
    expect(honourDemands(view, owners)).toBe(owners);
  });

  it('gives an item to who will do and has the least, and to nobody if nobody will do', () => {
    expect([...honourDemands(input([1, 1, 2, -1]), Int32Array.of(0, 0, 0, 1))]).toEqual([
      2, 1, -1, 1,
    ]);
  });

  it('leaves an item with its holder if that will do', () => {
    const view = input([1, -1, -1], [1, -1, -1]);
    expect([...honourDemands(view, Int32Array.of(0, 1, 1))]).toEqual([1, 1, 1]);
  });

  it('does not touch what is no assignment at all', () => {
    const view = input([0]);
    for (const garbage of [undefined, null, [], [1, 2]]) {
      expect(honourDemands(view, garbage as never)).toBe(garbage);
    }
  });

  it('makes any strategy one that is accepted, and accepts its own result (2,000 cases)', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 2 }), { maxLength: 30 }), (demandOf) => {
        const view = input(demandOf);
        const owners = honourDemands(view, average(view));
        assert.equal(checkAssignment(view, owners), undefined);
        assert.equal(honourDemands(view, owners), owners);
      }),
      { numRuns: 2_000 },
    );
  });
});
