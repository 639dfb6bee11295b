import { Logger, Module } from '@nestjs/common';
import {
  ShardingModule,
  type ShardingModuleOptions,
  type ShardingRegistryOptions,
} from 'nestjs-dynamic-sharding';
import { ConfigModule, ConfigService } from './config.service.js';
import { TasksService } from './tasks.service.js';

@Module({
  imports: [
    ShardingModule.forRootAsync({
      imports: [ConfigModule],
      inject: [ConfigService],
      useFactory: (config: ConfigService): ShardingModuleOptions => ({
        registry: registryFrom(config),
        namespace: config.get('NAMESPACE', 'sample-basic'),
        total: 12,
      }),
    }),
  ],
  providers: [TasksService],
})
export class AppModule {}

function registryFrom(config: ConfigService): ShardingRegistryOptions {
  const connect = config.get('ZOOKEEPER_CONNECT');
  if (connect === undefined) {
    new Logger('Sample').log(
      'ZOOKEEPER_CONNECT is not set: memory registry, this process is on its own',
    );
    return { type: 'memory' };
  }
  const sessionTimeout = Number(config.get('SESSION_TIMEOUT', '10000'));
  return { type: 'zookeeper', connect, sessionTimeout };
}
