import { Injectable, Logger } from '@nestjs/common';
import {
  type LeaderContext,
  OnLeader,
  OnShardAcquired,
  type Shard,
  ShardingService,
} from 'nestjs-dynamic-sharding';
import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, LateWriterError, Ledger, type Order } from './ledger.js';

const ORDERS = Number(process.env['ORDERS'] || 400);
/** How long one order takes. */
const EFFORT = Number(process.env['EFFORT'] || 50);
const IDLE = 250;

@Injectable()
export class OrderWorker {
  private readonly logger = new Logger('Orders');

  constructor(
    private readonly sharding: ShardingService,
    private readonly ledger: Ledger,
  ) {}

  /** One loop for each shard that we hold: it ends with the signal, and only then is the shard given on. */
  @OnShardAcquired()
  async work(shard: Shard): Promise<void> {
    const { item, signal } = shard;
    let booked = 0;
    try {
      const open = await retried(signal, () => this.ledger.claim(shard));
      this.logger.log(`shard ${item} taken over, ${open} orders to book`);
      while (!signal.aborted) {
        const order = this.ledger.nextOrder(shard);
        if (order) {
          await this.handle(shard, order);
          booked += 1;
        } else {
          await idle(signal);
        }
      }
    } catch (error) {
      if (!(error instanceof LateWriterError) && !isBusy(error)) throw error;
      this.logger.warn(`shard ${item}: ${(error as Error).message}`);
    }
    this.logger.log(`shard ${item} let go, ${booked} orders booked`);
  }

  /** Places the orders, then says when all are booked: work for one instance, so the leader does it. */
  @OnLeader()
  async lead({ signal }: LeaderContext): Promise<void> {
    await this.sharding.whenReady({ signal }).catch(() => {});
    if (signal.aborted) return;
    await retried(signal, () =>
      this.ledger.seed(ORDERS, (customer) => this.sharding.shardOf(customer)),
    );
    while (!signal.aborted) {
      const { orders, booked, ordered, balance } = this.ledger.progress();
      if (booked === orders) {
        this.logger.log(`all ${orders} orders booked: ${balance} of ${ordered}`);
        return;
      }
      await idle(signal);
    }
  }

  /**
   * No look at `shard.valid` before the booking: the process may be paused between the look and the
   * write, for longer than its lease. The token goes along with the write, and the database decides.
   */
  private async handle(shard: Shard, order: Order): Promise<void> {
    await sleep(EFFORT);
    await retried(shard.signal, () => this.ledger.book(shard, order));
  }
}

/** Tries until the file is free, or there is no time left for it. */
async function retried<T>(signal: AbortSignal, attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || signal.aborted) throw error;
      await idle(signal);
    }
  }
}

async function idle(signal: AbortSignal): Promise<void> {
  await sleep(IDLE, undefined, { signal }).catch(() => {});
}
