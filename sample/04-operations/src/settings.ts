import { Logger } from '@nestjs/common';
import type { ShardingRegistryOptions } from 'nestjs-dynamic-sharding';

const env = process.env;

export const NAMESPACE = env['NAMESPACE'] || 'sample-operations';

/** The same after a restart: it is what an operator calls this instance, and what the group waits for. */
export const ID = env['ID'] || 'ada';
export const ZONE = env['ZONE'] || 'a';
export const WEIGHT = Number(env['WEIGHT'] || 1);
export const REJOIN_WINDOW = Number(env['REJOIN_WINDOW'] || 30_000);

export function registryFrom(connect = env['ZOOKEEPER_CONNECT']): ShardingRegistryOptions {
  if (!connect) {
    const message = 'ZOOKEEPER_CONNECT is not set: memory registry, this process is on its own';
    new Logger('Sample').log(message);
    return { type: 'memory' };
  }
  return {
    type: 'zookeeper',
    connect,
    sessionTimeout: Number(env['SESSION_TIMEOUT'] || 10_000),
  };
}
