import { describe, expect, it } from '@jest/globals';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { membersOf } from '../../test/kit/strategy-worlds.js';
import { frozenView } from './frozen-view.js';

function inputOf(): StrategyInput {
  return {
    members: membersOf([1, 2], [{ zone: 'a' }]),
    total: 2,
    current: Int32Array.of(0, 1),
    itemWeights: Float64Array.of(1, 2),
    demands: [{ id: 'm0000' }, { labels: { zone: 'a' } }],
    demandOf: Int32Array.of(0, -1),
    spreadOver: 'zone',
    name: 'orders',
  };
}

/** What a careless strategy might do. */
const vandals: readonly [string, (view: any) => void][] = [
  ['the total', (view) => (view.total = 9)],
  ['the members', (view) => view.members.sort()],
  ['a member', (view) => (view.members[0].weight = 9)],
  ["a member's labels", (view) => (view.members[0].labels.zone = 'b')],
  ['the demands', (view) => view.demands.pop()],
  ['a demand', (view) => (view.demands[0].id = 'x')],
  ["a demand's labels", (view) => delete view.demands[1].labels.zone],
];

describe('frozenView', () => {
  it('shows the same', () => {
    expect(frozenView(inputOf())).toEqual(inputOf());
    const { members, total, current } = inputOf();
    expect(Object.keys(frozenView({ members, total, current }))).toEqual([
      'members',
      'total',
      'current',
    ]);
  });

  it('shows of a member no more than the interface says', () => {
    const input = inputOf();
    const members = input.members.map((member) => ({ ...member, secret: 1 }));
    expect(frozenView({ ...input, members }).members[0]).not.toHaveProperty('secret');
  });

  it.each(vandals)('throws at whoever changes %s', (_, vandalize) => {
    const input = inputOf();
    expect(() => vandalize(frozenView(input))).toThrow(TypeError);
    expect(input).toEqual(inputOf());
  });

  it('lets nobody change numbers but in a copy', () => {
    const input = inputOf();
    const view = frozenView(input);
    view.current.fill(7);
    view.itemWeights!.fill(7);
    view.demandOf!.fill(7);
    expect(input).toEqual(inputOf());
  });
});
