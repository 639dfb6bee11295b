import type {
  ShardingHookDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import type { ShardingStartedEvent } from '../interfaces/sharding-values.interface.js';
import { hook } from './hook.js';

/**
 * Runs the method on every instance when a rebalance begins, with what this one is about to lose (often
 * nothing). What it returns is awaited, within `drainTimeout`, before anything is let go.
 * @publicApi
 */
export function OnShardingStarted(
  options: ShardingHookOptions = {},
): ShardingHookDecorator<[event: ShardingStartedEvent]> {
  return hook('@OnShardingStarted', 'shardingStarted', options);
}
