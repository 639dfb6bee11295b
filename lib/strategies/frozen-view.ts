import type { Demand, StrategyInput } from '../interfaces/sharding-strategy.interface.js';

/**
 * A copy that a strategy may treat as it likes: objects are frozen, so that writing to them throws, and
 * arrays of numbers, which cannot be frozen, are copies. For strategies that are not ours: planning
 * goes on with the original.
 *
 * @publicApi
 */
export function frozenView(input: StrategyInput): StrategyInput {
  const { members, demands, current, itemWeights, demandOf } = input;
  return Object.freeze({
    ...input,
    members: Object.freeze(
      // Only what the interface names: the caller's objects may say more about a member.
      members.map(({ id, weight, labels }) =>
        Object.freeze({ id, weight, labels: Object.freeze({ ...labels }) }),
      ),
    ),
    current: current.slice(),
    ...(itemWeights && { itemWeights: itemWeights.slice() }),
    ...(demandOf && { demandOf: demandOf.slice() }),
    ...(demands && { demands: Object.freeze(demands.map(frozenDemand)) }),
  });
}

function frozenDemand({ id, labels }: Demand): Demand {
  return Object.freeze({
    ...(id !== undefined && { id }),
    ...(labels && { labels: Object.freeze({ ...labels }) }),
  });
}
