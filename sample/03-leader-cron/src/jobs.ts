import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { LeaderOnly, PerShard, type Shard } from 'nestjs-dynamic-sharding';

const EVERY = process.env['CRON'] || '*/5 * * * * *';

@Injectable()
export class Jobs {
  private readonly logger = new Logger('Jobs');

  /** Every instance has the timer; the leader alone does something when it fires. */
  @Cron(EVERY)
  @LeaderOnly()
  report(): void {
    this.logger.log(`${tick()} the report, once for all instances`);
  }

  /** Runs once for each shard that this instance holds, so over all instances once for each shard. */
  @Cron(EVERY)
  @PerShard({ concurrency: 2 })
  async sweep(shard: Shard): Promise<void> {
    this.logger.log(`${tick()} shard ${shard.item} of ${shard.total}`);
  }
}

function tick(): string {
  return new Date().toISOString();
}
