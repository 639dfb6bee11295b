import type {
  ShardingGateDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import { assertMethod, assertOptions } from './assertions.js';
import { guard } from './guard.js';

/**
 * Lets the method run on the leader; elsewhere, and before this instance is ready, a call does nothing.
 * For methods without a result, scheduled ones too, in either order with `@Cron` and the like. A leader
 * that resigns waits for calls under way, within `drainTimeout`.
 * @publicApi
 */
export function LeaderOnly(options: ShardingHookOptions = {}): ShardingGateDecorator<never> {
  const decorator = '@LeaderOnly';
  return (target, key, descriptor) => {
    assertOptions(decorator, options, ['sharding'], target, key);
    assertMethod(decorator, descriptor, target, key);
    const metadata = { kind: 'leader', decorator, sharding: options.sharding } as const;
    guard(metadata, target, key, descriptor, ({ gate, run, args }) =>
      gate.asLeader(() => run(...args)),
    );
  };
}
