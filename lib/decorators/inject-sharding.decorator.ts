import { Inject } from '@nestjs/common';
import { getShardingToken } from '../sharding.tokens.js';

/**
 * Injects the `ShardingService` of a registration.
 * @param name default: the unnamed registration, which `ShardingService` as a type injects too
 * @publicApi
 */
export function InjectSharding(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getShardingToken(name));
}
