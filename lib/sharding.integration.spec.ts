import { afterEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { eventually } from '../test/kit/eventually.js';
import { KeptLogs } from '../test/kit/sharding-app.js';
import {
  LeaderOnly,
  MemoryCluster,
  OnLeader,
  OnLeaderLost,
  OnShardAcquired,
  OnShardingCompleted,
  OnShardingStarted,
  OnShardReleased,
  type OwnersChange,
  PerShard,
  type ReleaseReason,
  type Shard,
  type ShardAssignment,
  ShardingModule,
  type ShardingModuleRootOptions,
  ShardingService,
} from './index.js';

class Worker {
  readonly history: string[] = [];
  readonly workers = new Map<number, Shard>();

  @OnShardAcquired()
  async acquired(shard: Shard): Promise<void> {
    this.workers.set(shard.item, shard);
    await new Promise((resolve) => shard.signal.addEventListener('abort', resolve));
    this.workers.delete(shard.item);
  }

  @OnShardReleased()
  released({ item, reason }: { item: number; reason: ReleaseReason }): void {
    this.history.push(`released ${item} ${reason}`);
  }

  @OnShardingStarted()
  started({ losing }: { losing: readonly number[] }): void {
    this.history.push(`started, losing ${losing.length}`);
  }

  @OnShardingCompleted()
  completed({ items }: ShardAssignment): void {
    this.history.push(`completed with ${items.length}`);
  }

  @OnLeader()
  lead(): void {
    this.history.push('leads');
  }

  @OnLeaderLost()
  lost(): void {
    this.history.push('leads no more');
  }

  @LeaderOnly()
  report(): void {
    this.history.push('reports');
  }

  @PerShard()
  async visit(shard?: Shard): Promise<void> {
    this.history.push(`visits ${shard!.item}`);
  }
}

describe('applications on one memory cluster', () => {
  const apps: INestApplicationContext[] = [];
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  async function start(options: ShardingModuleRootOptions) {
    const module = await Test.createTestingModule({
      imports: [ShardingModule.forRoot(options)],
      providers: [Worker],
    })
      .setLogger(new KeptLogs())
      .compile();
    const app = await module.init();
    apps.push(app);
    return { app, sharding: app.get(ShardingService), worker: app.get(Worker) };
  }

  it('share the shards, and hand them over when one leaves', async () => {
    const registry = { type: 'memory', cluster: new MemoryCluster() } as const;
    const options = { registry, total: 8, startup: { wait: true } };
    const one = await start(options);
    expect(one.sharding.items).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await eventually(() => one.sharding.isLeader);
    const other = await start({ ...options, instance: { address: 'http://other' } });
    await eventually(() => {
      expect(one.sharding.items).toHaveLength(4);
      expect(other.sharding.items).toHaveLength(4);
      expect([...one.worker.workers.keys()]).toEqual(one.sharding.items);
    });
    const [theirs] = other.sharding.items;
    expect(one.sharding.ownerOf(theirs!)).toEqual({
      instanceId: other.sharding.instanceId,
      address: 'http://other',
    });
    const keys = Array.from({ length: 1_000 }, (_, index) => `key-${index}`);
    const key = keys.find((candidate) => other.sharding.ownsKey(candidate))!;
    expect(one.sharding.ownerOfKey(key)?.instanceId).toBe(other.sharding.instanceId);

    await other.worker.visit();
    other.worker.report();
    expect(other.worker.history.filter((line) => /visits|reports/.test(line))).toEqual(
      other.sharding.items.map((item) => `visits ${item}`),
    );
    one.worker.report();
    expect(one.worker.history.at(-1)).toBe('reports');

    const held = one.sharding.items;
    await one.app.close();
    expect(one.sharding.status).toBe('closed');
    expect(one.sharding.items).toEqual([]);
    expect(one.worker.history).toEqual(
      expect.arrayContaining([...held.map((item) => `released ${item} shutdown`), 'leads no more']),
    );
    await eventually(() => {
      expect(other.sharding.items).toHaveLength(8);
      expect(other.sharding.isLeader).toBe(true);
      expect(other.worker.history).toContain('completed with 8');
    });
  });

  it('are seen by an observer, which none of them notices', async () => {
    const cluster = new MemoryCluster();
    const registry = { type: 'memory', cluster } as const;
    const options = { registry, total: 8, startup: { wait: true } };
    const observer = await start({ registry, role: 'observer' });
    expect(observer.sharding.status).toBe('connecting');
    const seen: OwnersChange[] = [];
    let isCompleted = false;
    observer.sharding.owners$.subscribe({
      next: (change) => seen.push(change),
      complete: () => (isCompleted = true),
    });
    const one = await start({ ...options, instance: { id: 'one', address: 'http://one' } });
    await observer.sharding.whenReady({ timeout: 10_000 });
    const other = await start({ ...options, instance: { id: 'other' } });
    await eventually(() => {
      expect(other.sharding.items).toHaveLength(4);
      for (const { sharding } of [one, other]) {
        for (const item of sharding.items) {
          expect(observer.sharding.ownerOf(item)?.instanceId).toBe(sharding.instanceId);
        }
      }
    });
    const moved = new Set(seen.slice(1).flatMap(({ changed }) => changed));
    expect(moved).toEqual(new Set(other.sharding.items));
    expect(observer.sharding).toMatchObject({ total: 8, items: [], leaderId: 'one' });
    const keys = Array.from({ length: 1_000 }, (_, index) => `key-${index}`);
    const key = keys.find((candidate) => one.sharding.ownsKey(candidate))!;
    expect(observer.sharding.ownerOfKey(key)).toEqual({
      instanceId: 'one',
      address: 'http://one',
    });
    await observer.worker.visit();
    observer.worker.report();
    await observer.app.close();
    expect(observer.worker.history).toEqual([]);
    expect([observer.sharding.status, isCompleted]).toEqual(['closed', true]);
    expect([one, other].map(({ sharding }) => sharding.items.length)).toEqual([4, 4]);
  });

  it('do not wait unless told to, and say when they are ready', async () => {
    const { sharding } = await start({ registry: { type: 'memory' }, total: 'instances' });
    await sharding.whenReady({ timeout: 10_000 });
    expect(sharding).toMatchObject({ items: [0], total: 1, status: 'ready' });
  });

  it('keep two groups apart on one connection', async () => {
    const cluster = new MemoryCluster();
    const registry = { type: 'memory', cluster } as const;
    const module = await Test.createTestingModule({
      imports: [
        ShardingModule.forRoot({ registry, total: 3, startup: { wait: true } }),
        ShardingModule.forRoot({
          registry,
          total: 5,
          startup: { wait: true },
          name: 'orders',
          namespace: 'orders',
        }),
      ],
    }).compile();
    const app = await module.init();
    expect(cluster.registries.size).toBe(1);
    expect(app.get(ShardingService).items).toHaveLength(3);
    await app.close();
    expect(cluster.registries.size).toBe(0);
  });
});

describe('an application on an ensemble that nobody runs', () => {
  const registry = { type: 'zookeeper', connect: '127.0.0.1:1', connectTimeout: 500 } as const;

  const make = async (options: Pick<ShardingModuleRootOptions, 'role' | 'startup'>) => {
    const logs = new KeptLogs();
    const imports = [ShardingModule.forRoot({ registry, total: 8, ...options })];
    const module = await Test.createTestingModule({ imports }).setLogger(logs).compile();
    return { module, logs };
  };

  it('starts without shards, and warns', async () => {
    const { module, logs } = await make({});
    const app = await module.init();
    expect(logs.lines.join('\n')).toContain('127.0.0.1:1');
    expect(app.get(ShardingService)).toMatchObject({ status: 'connecting', items: [], total: 0 });
    await app.close();
  });

  it.each(['member', 'observer'] as const)(
    'does not start as a %s if it was told to wait',
    async (role) => {
      const { module } = await make({ role, startup: { wait: true } });
      await expect(module.init()).rejects.toMatchObject({ code: 'UNREACHABLE' });
    },
  );

  it('starts as an observer without knowing owners, and warns', async () => {
    const { module, logs } = await make({ role: 'observer' });
    const app = await module.init();
    expect(logs.lines).toEqual([
      expect.stringMatching(/^warn Sharding: .*127\.0\.0\.1:1.*who owns what is known later$/),
    ]);
    expect(app.get(ShardingService)).toMatchObject({ status: 'connecting', items: [], total: 0 });
    await app.close();
  });
});
