import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StrategyInput, StrategyMember } from '../interfaces/sharding-strategy.interface.js';
import {
  countHeld,
  equalMembers,
  isSame,
  membersOf,
  worldArbitrary,
} from '../../test/kit/strategy-worlds.js';
import { checkAssignment } from './check-assignment.js';
import { rendezvous } from './rendezvous.strategy.js';

const SEED = 8;
const world = worldArbitrary({ members: 8, total: 60, weight: 5, demands: 4 });

function ownersIn(input: StrategyInput): (string | undefined)[] {
  return Array.from(rendezvous(input), (owner) => input.members[owner]?.id);
}

function inputOf(members: readonly StrategyMember[], total: number, name?: string): StrategyInput {
  const current = new Int32Array(total).fill(-1);
  return { members, total, current, ...(name !== undefined && { name }) };
}

describe('rendezvous', () => {
  it('moves only what a leaver had, and so gives a newcomer only what it takes (3,000 cases)', () => {
    fc.assert(
      fc.property(world, fc.nat(), (input, choice) => {
        fc.pre(input.members.length > 1);
        const leaver = input.members[choice % input.members.length]!;
        const members = input.members.filter((member) => member !== leaver);
        const before = ownersIn(input);
        const after = ownersIn({ ...input, members });
        for (const [item, owner] of before.entries()) {
          if (owner !== leaver.id) assert.equal(after[item], owner);
          else assert.notEqual(after[item], owner);
        }
      }),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('moves items only to a member that has got heavier (3,000 cases)', () => {
    fc.assert(
      fc.property(world, fc.nat(), (input, choice) => {
        const chosen = choice % input.members.length;
        const members = input.members.map((member, index) =>
          index === chosen ? { ...member, weight: member.weight * 2 } : member,
        );
        const before = ownersIn(input);
        const after = ownersIn({ ...input, members });
        for (const [item, owner] of after.entries()) {
          assert(owner === before[item] || owner === members[chosen]!.id);
        }
      }),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('keeps demands and pays no heed to history (3,000 cases)', () => {
    fc.assert(
      fc.property(world, (input) => {
        const target = rendezvous(input);
        assert.equal(checkAssignment(input, target), undefined);
        const current = input.current.map(() => -1);
        assert(isSame(rendezvous({ ...input, current }), target));
      }),
      { numRuns: 3_000, seed: SEED },
    );
  });

  it('chooses the same whether weights are equal as numbers or all but equal', () => {
    const same = rendezvous(inputOf(equalMembers(20), 2_000));
    const weights = Array.from({ length: 20 }, (_, index) => 1 + index * 1e-13);
    expect(Array.from(rendezvous(inputOf(membersOf(weights), 2_000)))).toEqual(Array.from(same));
  });

  it('is even on average, and proportional to weights', () => {
    const total = 100_000;
    const even = countHeld(rendezvous(inputOf(equalMembers(10), total)), 10);
    // Five times the standard deviation of 95.
    for (const holds of even) expect(Math.abs(holds - 10_000)).toBeLessThan(475);

    const weights = [1, 2, 3, 4];
    const weighted = countHeld(rendezvous(inputOf(membersOf(weights), total)), 4);
    for (const [member, holds] of weighted.entries()) {
      expect(Math.abs(holds - total * (weights[member]! / 10))).toBeLessThan(775);
    }
  });

  it('gives the single items of many groups to many members', () => {
    const owners = Array.from(
      { length: 1_000 },
      (_, group) => rendezvous(inputOf(equalMembers(10), 1, `group-${group}`))[0]!,
    );
    for (const holds of countHeld(owners, 10)) expect(Math.abs(holds - 100)).toBeLessThan(48);
  });

  // A change here would move items of every group that uses it, when a release is rolled out.
  it('gives the same in every release', () => {
    const plain = rendezvous(inputOf(equalMembers(5), 12, 'orders'));
    const weighted = rendezvous(inputOf(membersOf([1, 2, 3, 4, 5]), 12, 'orders'));
    expect(Array.from(plain)).toEqual([4, 3, 4, 3, 0, 2, 3, 2, 3, 1, 0, 4]);
    expect(Array.from(weighted)).toEqual([4, 3, 4, 3, 4, 2, 3, 2, 3, 1, 2, 4]);
  });
});
