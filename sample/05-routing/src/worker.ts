import { ConflictException, Controller, Get, Headers, Module, Param } from '@nestjs/common';
import { ShardingModule, ShardingService } from 'nestjs-dynamic-sharding';
import { EMPTY, filter, firstValueFrom, timeout } from 'rxjs';
import { EPOCH_HEADER, HOST, NAMESPACE, REGISTRY, WORKER_PORT } from './settings.js';

/** How long a request waits for a plan that we have not seen yet. */
const PATIENCE = 2_000;

const ADDRESS = `http://${HOST}:${WORKER_PORT}`;

@Controller('keys')
class KeysController {
  constructor(private readonly sharding: ShardingService) {}

  /**
   * Whoever asks may know less than we do, so every request is checked here: the owner answers, with the
   * token that a store behind it would want to see, and everybody else refuses and says who it is.
   */
  @Get(':key')
  async answer(@Param('key') key: string, @Headers(EPOCH_HEADER) epoch = '0') {
    await this.heardOf(Number(epoch));
    const shard = this.sharding.shardOf(key);
    const token = this.sharding.token(shard);
    if (token === undefined) {
      const owner = this.sharding.ownerOf(shard) ?? null;
      throw new ConflictException({ message: `shard ${shard} is not held here`, owner });
    }
    return { key, shard, token: String(token), answeredBy: ADDRESS };
  }

  /** Or whoever asks knows more: then our part of it is about to come. */
  private async heardOf(plan: number): Promise<void> {
    const heard = this.sharding.owners$.pipe(
      filter(({ epoch }) => epoch >= plan),
      timeout({ first: PATIENCE, with: () => EMPTY }),
    );
    await firstValueFrom(heard, { defaultValue: undefined });
  }
}

@Module({
  imports: [
    ShardingModule.forRoot({
      registry: REGISTRY,
      namespace: NAMESPACE,
      total: 12,
      instance: { address: ADDRESS },
      // Shards are taken when requests for them can be answered: see main.ts.
      autoStart: false,
    }),
  ],
  controllers: [KeysController],
})
export class WorkerModule {}
