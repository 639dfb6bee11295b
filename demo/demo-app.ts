import { type DynamicModule, Injectable, type LoggerService, Module } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  OnShardAcquired,
  type Shard,
  ShardingModule,
  type ShardingModuleRootOptions,
  ShardingService,
} from '../lib/index.js';
import type { Look } from './audit.js';
import { now } from './clock.js';

export const TOTAL = 24;

/** How long a worker takes to finish what it is at, once its shard is to go. */
export const FINISH = 300;

/** What an instance says about itself. */
export interface Report {
  readonly look: Look;
  /** The items whose workers finish before the items go elsewhere. */
  readonly finishing: readonly number[];
  readonly status: string;
  readonly isLeader: boolean;
}

@Injectable()
export class DemoWorker {
  readonly finishing = new Set<number>();

  /** Works until it is told to stop, and then a little longer: the shard waits for it. */
  @OnShardAcquired()
  async work({ item, signal }: Shard): Promise<void> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    this.finishing.add(item);
    await sleep(FINISH);
    this.finishing.delete(item);
  }
}

/** Asks an instance, again and again, what it owns. */
@Injectable()
export class Witness {
  #before = now();

  constructor(
    private readonly sharding: ShardingService,
    private readonly worker: DemoWorker,
  ) {}

  ask(at = now()): Report {
    const items: number[] = [];
    for (let item = 0; item < TOTAL; item += 1) if (this.sharding.owns(item)) items.push(item);
    const before = this.#before;
    this.#before = at;
    return {
      look: { at, before, items, times: 1, longestPause: at - before },
      finishing: [...this.worker.finishing],
      status: this.sharding.status,
      isLeader: this.sharding.isLeader,
    };
  }
}

@Module({})
export class DemoModule {
  /** A whole application: an ordinary one, but for the witness. */
  static with(options: ShardingModuleRootOptions): DynamicModule {
    return {
      module: DemoModule,
      imports: [ShardingModule.forRoot(options)],
      providers: [DemoWorker, Witness],
    };
  }
}

/** Passes on what an audience should know, and nothing else. */
export class DemoLogger implements LoggerService {
  constructor(
    private readonly levels: readonly ('warn' | 'error')[],
    private readonly tell: (message: string) => void,
  ) {}

  log(): void {}

  warn(message: unknown): void {
    if (this.levels.includes('warn')) this.tell(String(message));
  }

  error(message: unknown): void {
    if (this.levels.includes('error')) this.tell(String(message));
  }
}
