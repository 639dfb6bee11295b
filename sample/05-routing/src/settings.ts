import { Logger } from '@nestjs/common';
import { MemoryCluster, type ShardingRegistryOptions } from 'nestjs-dynamic-sharding';

const env = process.env;

export const NAMESPACE = env['NAMESPACE'] || 'sample-routing';
export const HOST = env['HOST'] || '127.0.0.1';
export const FRONT_PORT = Number(env['FRONT_PORT'] || 3000);
export const WORKER_PORT = Number(env['WORKER_PORT'] || 3001);

/** `front`, `worker`, or both in one process. */
export const ROLE = env['ROLE'];

/** Up to which plan whoever asks knows the owners. */
export const EPOCH_HEADER = 'x-sharding-epoch';

export const REGISTRY = registryFrom(env['ZOOKEEPER_CONNECT']);

function registryFrom(connect: string | undefined): ShardingRegistryOptions {
  if (!connect) {
    const message = 'ZOOKEEPER_CONNECT is not set: memory registry, this process is on its own';
    new Logger('Sample').log(message);
    return { type: 'memory', cluster: new MemoryCluster() };
  }
  return {
    type: 'zookeeper',
    connect,
    sessionTimeout: Number(env['SESSION_TIMEOUT'] || 10_000),
  };
}
