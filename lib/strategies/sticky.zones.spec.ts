import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import {
  countHeld,
  isSame,
  membersOf,
  movesBetween,
  movesTo,
  quotaCounts,
  worldArbitrary,
} from '../../test/kit/strategy-worlds.js';
import { sticky } from './sticky.strategy.js';

const SEED = 3;

/** The members of each zone; those without the label are one of them. */
function zonesIn({ members }: StrategyInput): number[][] {
  const zones = new Map<string, number[]>();
  for (const [member, { labels }] of members.entries()) {
    const zone = labels['zone'] ?? '';
    zones.set(zone, [...(zones.get(zone) ?? []), member]);
  }
  return [...zones.values()];
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Every count of items that is fair to the zones and, within each, to its members. */
function zonedQuotaCounts(input: StrategyInput): number[][] {
  const zones = zonesIn(input);
  const weights = zones.map((zone) => zone.map((member) => input.members[member]!.weight));
  return quotaCounts(input.total, weights.map(sumOf)).flatMap((perZone) => {
    let found: number[][] = [[]];
    for (const [index, zone] of zones.entries()) {
      const choices = quotaCounts(perZone[index]!, weights[index]!);
      found = found.flatMap((counts) =>
        choices.map((choice) => {
          const extended = [...counts];
          for (const [at, member] of zone.entries()) extended[member] = choice[at]!;
          return extended;
        }),
      );
    }
    return found;
  });
}

describe('sticky, spread over zones', () => {
  it('is fair to zones, then within each, with the fewest moves of all such assignments, and stays there (5,000 cases, all fair counts tried)', () => {
    const world = worldArbitrary({ members: 6, total: 30, weight: 4, spread: true });
    fc.assert(
      fc.property(world, (input) => {
        const target = sticky(input);
        const fair = zonedQuotaCounts(input);
        const held = countHeld(target, input.members.length);
        assert(
          fair.some((counts) => isSame(counts, held)),
          `unfair: ${held.join()}`,
        );
        const fewest = Math.min(...fair.map((counts) => movesTo(counts, input.current)));
        assert.equal(movesBetween(input.current, target), fewest);
        assert(isSame(sticky({ ...input, current: target }), target), 'its result moves again');
      }),
      { numRuns: 5_000, seed: SEED },
    );
  });

  it('balances zones to one where members alone would not', () => {
    const zones = ['a', 'a', 'a', 'b', 'b', 'b'].map((zone) => ({ zone }));
    const input = {
      members: membersOf([1, 1, 1, 1, 1, 1], zones),
      total: 9,
      current: Int32Array.of(0, 0, 1, 1, 2, 2, 3, 4, 5),
    };
    // Everyone within one already, but six items in zone a and three in zone b.
    expect(movesBetween(input.current, sticky(input))).toBe(0);
    const target = sticky({ ...input, spreadOver: 'zone' });
    expect(countHeld(target, 6)).toEqual([2, 2, 1, 2, 1, 1]);
    expect(movesBetween(input.current, target)).toBe(1);
  });

  it('takes a label that objects inherit for absent', () => {
    const input = {
      members: membersOf([1, 1]),
      total: 2,
      current: Int32Array.of(-1, -1),
      spreadOver: 'constructor',
    };
    expect(Array.from(sticky(input))).toEqual([0, 1]);
  });
});
