import type {
  ShardingHookDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import { hook } from './hook.js';

/**
 * Runs the method when this instance has ceased to be the leader, after its `@OnLeader` methods ended.
 * @publicApi
 */
export function OnLeaderLost(options: ShardingHookOptions = {}): ShardingHookDecorator<[]> {
  return hook('@OnLeaderLost', 'leaderLost', options);
}
