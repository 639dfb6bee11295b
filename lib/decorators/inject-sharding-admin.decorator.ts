import { Inject } from '@nestjs/common';
import { getShardingAdminToken } from '../sharding.tokens.js';

/**
 * Injects the `ShardingAdmin` of a registration.
 * @param name default: the unnamed registration, which `ShardingAdmin` as a type injects too
 * @publicApi
 */
export function InjectShardingAdmin(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getShardingAdminToken(name));
}
