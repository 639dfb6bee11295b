import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { isSame, worldArbitrary } from '../../test/kit/strategy-worlds.js';
import { checkAssignment } from './check-assignment.js';
import { frozenView } from './frozen-view.js';
import { sticky } from './sticky.strategy.js';

const SEED = 6;
const itemWeight = fc.oneof(
  fc.integer({ min: 1, max: 9 }),
  fc.double({ min: 0.01, max: 100, noNaN: true }),
);

const modes: readonly [string, fc.Arbitrary<StrategyInput>][] = [
  [
    'weights of members and items',
    worldArbitrary({ members: 8, total: 50, weight: 5, itemWeight, spread: true }),
  ],
  [
    'demands and zones',
    worldArbitrary({ members: 8, total: 50, weight: 5, demands: 5, spread: true }),
  ],
  [
    'everything',
    worldArbitrary({ members: 8, total: 50, weight: 5, itemWeight, demands: 5, spread: true }),
  ],
];

/** The load of each zone, and what it is to be, where every item may go anywhere. */
function zoneLoads(input: StrategyInput, owners: ArrayLike<number>) {
  const { members, itemWeights } = input;
  const whole = itemWeights!.reduce((sum, weight) => sum + weight, 0);
  const sum = members.reduce((all, { weight }) => all + weight, 0);
  const zones = new Map<string, { load: number; share: number }>();
  const zoneOf = (member: number): { load: number; share: number } => {
    const name = members[member]!.labels['zone'] ?? '';
    const zone = zones.get(name) ?? { load: 0, share: 0 };
    zones.set(name, zone);
    return zone;
  };
  for (const [member, { weight }] of members.entries()) {
    zoneOf(member).share += (whole * weight) / sum;
  }
  for (const [item, weight] of itemWeights!.entries()) zoneOf(owners[item]!).load += weight;
  return [...zones.values()];
}

describe('sticky, with all at once', () => {
  it.each(modes)(
    'keeps demands, gives the same for the same, stays there and changes no input: %s (2,000 cases)',
    (_, world) => {
      fc.assert(
        fc.property(world, (input) => {
          const copy = frozenView(input);
          const target = sticky(input);
          assert.equal(checkAssignment(input, target), undefined);
          assert(isSame(sticky(copy), target), 'the same input gave another result');
          assert(isSame(input.current, copy.current), 'the input was changed');
          assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
        }),
        { numRuns: 2_000, seed: SEED },
      );
    },
  );

  it('loads zones to less than the heaviest item away from their share (2,000 cases)', () => {
    fc.assert(
      fc.property(
        worldArbitrary({ members: 6, total: 60, weight: 3, itemWeight, spread: true }).filter(
          ({ total, members, itemWeights }) =>
            total > 0 &&
            Math.max(...itemWeights!) <=
              itemWeights!.reduce((sum, weight) => sum + weight, 0) / members.length,
        ),
        (input) => {
          const heaviest = Math.max(...input.itemWeights!);
          for (const { load, share } of zoneLoads(input, sticky(input))) {
            assert(Math.abs(load - share) < heaviest * (1 + 1e-9), `${load} for ${share}`);
          }
        },
      ),
      { numRuns: 2_000, seed: SEED },
    );
  });
});
