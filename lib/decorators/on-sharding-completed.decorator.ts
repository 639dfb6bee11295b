import type {
  ShardingHookDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import type { ShardAssignment } from '../interfaces/sharding-values.interface.js';
import { hook } from './hook.js';

/**
 * Runs the method on every instance when a rebalance is over, with what this one holds now.
 * @publicApi
 */
export function OnShardingCompleted(
  options: ShardingHookOptions = {},
): ShardingHookDecorator<[assignment: ShardAssignment]> {
  return hook('@OnShardingCompleted', 'shardingCompleted', options);
}
