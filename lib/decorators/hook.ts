import type {
  ShardingHookDecorator,
  ShardingHookOptions,
} from '../interfaces/sharding-decorators.interface.js';
import type { HookKind, HookMetadata } from '../interfaces/sharding-metadata.interface.js';
import { SHARDING_HOOKS } from '../sharding.constants.js';
import { assertMethod, assertOptions } from './assertions.js';
import { appendMetadata } from './method-metadata.js';

/** Makes the decorator of one kind of hook. */
export function hook<Arguments extends readonly unknown[]>(
  decorator: string,
  kind: HookKind,
  options: ShardingHookOptions,
): ShardingHookDecorator<Arguments> {
  return (target, key, descriptor) => {
    assertOptions(decorator, options, ['sharding'], target, key);
    const method = assertMethod(decorator, descriptor, target, key);
    const metadata: HookMetadata = { kind, decorator, sharding: options.sharding };
    appendMetadata(SHARDING_HOOKS, metadata, method);
  };
}
