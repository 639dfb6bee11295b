import { Logger, Module } from '@nestjs/common';
import { ShardingModule, type ShardingRegistryOptions } from 'nestjs-dynamic-sharding';
import { Ledger } from './ledger.js';
import { OrderWorker } from './order.worker.js';

@Module({
  imports: [
    ShardingModule.forRootAsync({
      useFactory: () => ({
        registry: registryFrom(process.env),
        namespace: process.env['NAMESPACE'] || 'sample-partitioned-workers',
        // The table says for each account which shard it belongs to, so this number stays.
        total: 16,
      }),
    }),
  ],
  providers: [Ledger, OrderWorker],
})
export class AppModule {}

function registryFrom(env: NodeJS.ProcessEnv): ShardingRegistryOptions {
  const connect = env['ZOOKEEPER_CONNECT'];
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
