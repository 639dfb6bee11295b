import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { MemberFinder, satisfies } from './placement.js';

/**
 * What is wrong with a strategy's result, naming the first item concerned; undefined if nothing is. A
 * custom strategy may return anything, and what it returns decides who works on what. Balance is the
 * strategy's own affair.
 *
 * @publicApi
 */
export function checkAssignment(input: StrategyInput, result: unknown): string | undefined {
  if (!isListOfValues(result))
    return `it returned ${describe(result)} instead of a list of indices`;
  const { members, total, demands, demandOf } = input;
  if (result.length !== total) return `it returned ${result.length} owners for ${total} items`;

  const finder = new MemberFinder(members);
  const canBePlaced = (demands ?? []).map((demand) => finder.find(demand).length > 0);
  for (let item = 0; item < total; item++) {
    const owner = result[item];
    if (typeof owner !== 'number' || !Number.isInteger(owner)) {
      return `item ${item} went to ${describe(owner)}, which is not a whole number`;
    }
    if (owner < -1 || owner >= members.length) {
      return `item ${item} went to member ${owner}, and there are ${members.length}`;
    }
    const asked = demandOf?.[item] ?? -1;
    const demand = asked < 0 ? undefined : demands?.[asked];
    if (owner === -1) {
      if (!demand) return `item ${item} has no owner, and any member may hold it`;
      if (canBePlaced[asked])
        return `item ${item} has no owner, although a member satisfies its demand`;
    } else if (demand && !satisfies(members[owner]!, demand)) {
      return `item ${item} went to ${members[owner]!.id}, which does not satisfy ${JSON.stringify(demand)}`;
    }
  }
  return undefined;
}

function isListOfValues(result: unknown): result is ArrayLike<unknown> {
  return typeof result === 'object' && result !== null && 'length' in result;
}

function describe(value: unknown): string {
  if (typeof value === 'number' || value === null || value === undefined) return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
