/**
 * An application under observation: works on its shards as told, and says on request how much it uses
 * of everything that must not grow. Told on stdin what to do, answers in JSON lines.
 */
import 'reflect-metadata';
import { type INestApplicationContext, Injectable, type LogLevel, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Observable } from 'rxjs';
import {
  LeaderOnly,
  OnLeader,
  OnShardAcquired,
  OnShardingCompleted,
  OnShardingStarted,
  OnShardReleased,
  PerShard,
  type Shard,
  ShardingModule,
  ShardingService,
} from '../../lib/index.js';
import type { AppState, Notes, Usage } from './soak-usage.js';

const [id, connect, namespace] = process.argv.slice(2) as [string, string, string];
const SESSION_TIMEOUT = 6_000;
const TICK = 5;
const WORK_EVERY = 200;
const problems: string[] = [];
let worked = 0;
let subscriptions = 0;

process.on('warning', ({ name, message }) => problems.push(`${name}: ${message}`));
process.on('unhandledRejection', (reason) => problems.push(`unhandled: ${String(reason)}`));

countSubscriptions();

/** Ours and those inside of operators: whoever forgets to end one is seen. */
function countSubscriptions(): void {
  Observable.prototype.subscribe = new Proxy(Reflect.get(Observable.prototype, 'subscribe'), {
    apply(subscribe, observable, args) {
      subscriptions += 1;
      const subscription = Reflect.apply(subscribe, observable, args);
      subscription.add(() => (subscriptions -= 1));
      return subscription;
    },
  });
}

@Injectable()
class Worker {
  readonly #timer = setInterval(() => void this.tick(), WORK_EVERY);

  constructor(private readonly sharding: ShardingService) {}

  @OnShardAcquired()
  async work({ signal }: Shard): Promise<void> {
    await new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
  }

  @OnLeader()
  async lead(): Promise<void> {
    await this.plan();
  }

  @OnShardingStarted()
  @OnShardingCompleted()
  @OnShardReleased()
  async note(): Promise<void> {}

  @LeaderOnly()
  async plan(): Promise<void> {}

  @PerShard({ concurrency: 4 })
  async each(shard: Shard): Promise<void> {
    if (shard.valid && this.sharding.owns(shard.item)) worked += 1;
  }

  async tick(): Promise<void> {
    // The decorator gives each call its shard.
    await (this.each as unknown as () => Promise<void>).call(this);
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }
}

@Module({
  imports: [
    ShardingModule.forRoot({
      registry: { type: 'zookeeper', connect, sessionTimeout: SESSION_TIMEOUT },
      namespace,
      instance: { id },
      total: 64,
      startup: { wait: true, timeout: 60_000 },
      autoStart: false,
    }),
  ],
  providers: [Worker],
})
class SoakModule {}

/**
 * A turn of the loop that took long is ours only as far as this process was computing meanwhile; the
 * rest is a machine that had no time for it.
 */
class LoopWatch {
  #longest = 0;
  #starved = 0;
  #at = performance.now();
  #cpu = process.cpuUsage();
  #isExcused = false;
  #isExcusing = false;

  constructor() {
    setInterval(() => this.#look(), TICK).unref();
  }

  get longest(): number {
    return this.#longest;
  }

  get starved(): number {
    return this.#starved;
  }

  /** The present turn does what an application would not do. */
  excuse(): void {
    this.#isExcused = true;
  }

  /** All turns until then do, and the last of them is over when this resolves. */
  async excuseUntil<T>(done: Promise<T>): Promise<T> {
    this.#isExcusing = true;
    this.#isExcused = true;
    const result = await done;
    this.#isExcusing = false;
    await sleep(2 * TICK);
    return result;
  }

  reset(): void {
    this.#longest = 0;
    this.#starved = 0;
  }

  #look(): void {
    const at = performance.now();
    const cpu = process.cpuUsage();
    const late = at - this.#at - TICK;
    const used = (cpu.user + cpu.system - this.#cpu.user - this.#cpu.system) / 1_000;
    if (!this.#isExcused) {
      this.#longest = Math.max(this.#longest, Math.min(late, used));
      this.#starved = Math.max(this.#starved, late - used);
    }
    this.#isExcused = this.#isExcusing;
    this.#at = at;
    this.#cpu = cpu;
  }
}

const loop = new LoopWatch();
let app: INestApplicationContext | undefined = await open();

/** Making an application takes long turns, which are Nest's; joining the group is ours. */
async function open(): Promise<INestApplicationContext> {
  const logger: LogLevel[] = ['error', 'fatal'];
  const made = await loop.excuseUntil(NestFactory.createApplicationContext(SoakModule, { logger }));
  await made.get(ShardingService).start();
  return made;
}

const service = (): ShardingService => app!.get(ShardingService);

const commands: Record<string, () => Promise<object> | object> = {
  state: (): AppState => {
    const { status, items, total, isLeader } = service();
    return { status, items: items.length, total, isLeader, worked };
  },
  usage: (): Usage => {
    loop.excuse();
    globalThis.gc!();
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    const resources = process.getActiveResourcesInfo();
    return {
      heap: heapUsed + arrayBuffers,
      rss,
      timers: resources.filter((name) => name === 'Timeout').length,
      handles: resources.length,
      listeners: process
        .eventNames()
        .reduce((sum, name) => sum + process.listenerCount(name as string), 0),
      subscriptions,
    };
  },
  reset: () => (loop.reset(), {}),
  drain: async () => (await service().drain(), {}),
  resume: async () => (await service().resume(), {}),
  reshard: async () => (await service().reshard(), {}),
  // The whole application ends and begins anew in the same process: what is left behind shows.
  restart: async () => {
    await app!.close();
    app = await open();
    return {};
  },
  close: async () => {
    await app!.close();
    app = undefined;
    setImmediate(() => process.exit());
    return {};
  },
};

createInterface({ input: process.stdin }).on('line', (line) => void obey(line));
say({ kind: 'open' });

async function obey(command: string): Promise<void> {
  let answer: object = {};
  try {
    answer = await commands[command]!();
  } catch (error) {
    problems.push(`${command}: ${String(error)}`);
  }
  say({ kind: command, ...answer, ...notes() });
}

function notes(): Notes {
  return {
    problems: problems.splice(0),
    longestBlock: loop.longest,
    starved: loop.starved,
  };
}

function say(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
