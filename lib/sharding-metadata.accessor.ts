import { Injectable } from '@nestjs/common';
import type { GuardMetadata, HookMetadata } from './interfaces/sharding-metadata.interface.js';
import { SHARDING_GUARDS, SHARDING_HOOKS } from './sharding.constants.js';

/** Reads what the decorators have written. */
@Injectable()
export class ShardingMetadataAccessor {
  hooksOf(method: unknown): readonly HookMetadata[] {
    return this.#read(SHARDING_HOOKS, method) as readonly HookMetadata[];
  }

  guardsOf(method: unknown): readonly GuardMetadata[] {
    return this.#read(SHARDING_GUARDS, method) as readonly GuardMetadata[];
  }

  #read(key: symbol, method: unknown): readonly unknown[] {
    if (typeof method !== 'function') return [];
    return (Reflect.getOwnMetadata(key, method) ?? []) as readonly unknown[];
  }
}
