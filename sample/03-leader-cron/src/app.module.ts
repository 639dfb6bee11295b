import { Logger, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ShardingModule, type ShardingRegistryOptions } from 'nestjs-dynamic-sharding';
import { Jobs } from './jobs.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    ShardingModule.forRootAsync({
      useFactory: () => ({
        registry: registryFrom(process.env),
        namespace: process.env['NAMESPACE'] || 'sample-leader-cron',
        total: 6,
      }),
    }),
  ],
  providers: [Jobs],
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
