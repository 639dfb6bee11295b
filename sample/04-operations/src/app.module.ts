import { Module } from '@nestjs/common';
import { ShardingModule } from 'nestjs-dynamic-sharding';
import { ID, NAMESPACE, registryFrom, REJOIN_WINDOW, WEIGHT, ZONE } from './settings.js';
import { Shards } from './shards.js';

@Module({
  imports: [
    ShardingModule.forRootAsync({
      useFactory: () => ({
        registry: registryFrom(),
        namespace: NAMESPACE,
        // What the group begins with. Later it is what an operator has set, with a warning.
        total: 10,
        instance: { id: ID, weight: WEIGHT, labels: { zone: ZONE } },
        // Back within this time, it gets its shards back, and nobody else has had them.
        rejoinWindow: REJOIN_WINDOW,
      }),
    }),
  ],
  providers: [Shards],
})
export class AppModule {}
