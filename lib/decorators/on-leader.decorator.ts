import type {
  ShardingHookDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import type { LeaderContext } from '../interfaces/sharding-values.interface.js';
import { hook } from './hook.js';

/**
 * Runs the method when this instance becomes the leader. It may go on until `context.signal` aborts;
 * resigning waits for it, within `drainTimeout`.
 * @publicApi
 */
export function OnLeader(
  options: ShardingHookOptions = {},
): ShardingHookDecorator<[context: LeaderContext]> {
  return hook('@OnLeader', 'leader', options);
}
