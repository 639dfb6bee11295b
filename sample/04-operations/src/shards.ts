import { Injectable, Logger } from '@nestjs/common';
import {
  OnShardAcquired,
  OnShardingCompleted,
  OnShardReleased,
  type Shard,
  type ShardAssignment,
  type ShardReleasedEvent,
} from 'nestjs-dynamic-sharding';

@Injectable()
export class Shards {
  private readonly logger = new Logger('Shards');

  /** A parameter is read when the shard is granted; a later change counts from the next grant on. */
  @OnShardAcquired()
  acquired({ item, parameter }: Shard): void {
    const how = parameter === undefined ? '' : ` with ${JSON.stringify(parameter)}`;
    this.logger.log(`got shard ${item}${how}`);
  }

  /** The reason tells what an operator did from what happened by itself. */
  @OnShardReleased()
  released({ item, reason }: ShardReleasedEvent): void {
    this.logger.log(`let go of shard ${item}: ${reason}`);
  }

  @OnShardingCompleted()
  completed({ items, total }: ShardAssignment): void {
    this.logger.log(`holding ${items.length} of ${total}: ${items.join(', ') || 'nothing'}`);
  }
}
