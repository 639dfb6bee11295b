import type {
  ShardingHookDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import type { Shard } from '../interfaces/sharding-values.interface.js';
import { hook } from './hook.js';

/**
 * Runs the method for each shard that this instance gets. Its promise is the shard's worker: it may go
 * on until `shard.signal` aborts, and the shard is not given to anybody else before it has ended, within
 * `drainTimeout`.
 * @publicApi
 */
export function OnShardAcquired(
  options: ShardingHookOptions = {},
): ShardingHookDecorator<[shard: Shard]> {
  return hook('@OnShardAcquired', 'shardAcquired', options);
}
