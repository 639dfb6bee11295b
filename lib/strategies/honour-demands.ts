import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { MemberFinder } from './placement.js';

/**
 * Puts right what a strategy that knows nothing of demands has done to items that have one: such an item
 * stays with its holder if that will do, else goes to whoever will do and has the least; if nobody will
 * do, it has no owner. All other items are left as they are, so this is safe for any result.
 *
 * @publicApi
 */
export function honourDemands<T extends ArrayLike<number>>(
  input: StrategyInput,
  owners: T,
): T | Int32Array {
  const { total, current, demands, demandOf, members } = input;
  if (!demands || !demandOf || owners?.length !== total) return owners;
  const finder = new MemberFinder(members);
  const allowed = demands.map((demand) => finder.find(demand));
  const isAllowed = (item: number, owner: number): boolean => {
    const choice = allowed[demandOf[item]!]!;
    return choice.length === 0 ? owner === -1 : choice.includes(owner);
  };

  const wrong: number[] = [];
  const held = new Int32Array(members.length);
  for (let item = 0; item < total; item++) {
    const owner = owners[item]!;
    if (demandOf[item]! >= 0 && !isAllowed(item, owner)) wrong.push(item);
    else if (owner >= 0 && owner < members.length) held[owner]! += 1;
  }
  if (wrong.length === 0) return owners;
  const corrected = Int32Array.from(owners);
  for (const item of wrong) {
    const choice = allowed[demandOf[item]!]!;
    const holder = current[item]!;
    const owner = isAllowed(item, holder) ? holder : leastOf(choice, held);
    corrected[item] = owner;
    if (owner >= 0) held[owner]! += 1;
  }
  return corrected;
}

function leastOf(members: Int32Array, held: Int32Array): number {
  let least = -1;
  for (const member of members) if (least < 0 || held[member]! < held[least]!) least = member;
  return least;
}
