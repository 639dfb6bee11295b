import type {
  ShardingHookDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import type { ShardReleasedEvent } from '../interfaces/sharding-values.interface.js';
import { hook } from './hook.js';

/**
 * Runs the method for each shard that this instance lets go, after the shard's worker has ended and
 * before anybody else gets it.
 * @publicApi
 */
export function OnShardReleased(
  options: ShardingHookOptions = {},
): ShardingHookDecorator<[event: ShardReleasedEvent]> {
  return hook('@OnShardReleased', 'shardReleased', options);
}
