import { Injectable, Logger } from '@nestjs/common';
import {
  OnLeader,
  OnShardingCompleted,
  OnShardingStarted,
  type ShardAssignment,
  type ShardingStartedEvent,
  ShardingService,
} from 'nestjs-dynamic-sharding';

@Injectable()
export class TasksService {
  private readonly logger = new Logger('Tasks');

  constructor(private readonly sharding: ShardingService) {}

  /** On one instance at a time. */
  @OnLeader()
  lead(): void {
    this.logger.log(`leading, as ${this.sharding.instanceId}`);
  }

  /** A rebalance begins: what is to be lost goes to nobody else before this has ended. */
  @OnShardingStarted()
  started({ losing }: ShardingStartedEvent): void {
    this.logger.log(`rebalance: losing ${losing.length === 0 ? 'nothing' : losing.join(', ')}`);
  }

  /** It is over: this is what we hold until the next one. */
  @OnShardingCompleted()
  completed({ items, total }: ShardAssignment): void {
    this.logger.log(`holding ${items.length} of ${total}: ${items.join(', ') || 'nothing'}`);
    this.handle('customer-42');
  }

  /** Wherever work comes in: is it ours, and if not, whose? */
  handle(customer: string): void {
    const shard = this.sharding.shardOf(customer);
    const owner = this.sharding.ownsKey(customer)
      ? 'mine'
      : `held by ${this.sharding.ownerOfKey(customer)?.instanceId ?? 'nobody yet'}`;
    this.logger.log(`${customer} belongs to shard ${shard}, ${owner}`);
  }
}
