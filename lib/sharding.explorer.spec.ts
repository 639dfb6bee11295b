import { describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module, Scope } from '@nestjs/common';
import { fakedApp } from '../test/kit/sharding-app.js';
import {
  LeaderOnly,
  OnLeader,
  OnLeaderLost,
  OnShardAcquired,
  OnShardingCompleted,
  OnShardingStarted,
  OnShardReleased,
  PerShard,
} from './decorators/index.js';
import type { Shard } from './interfaces/sharding-values.interface.js';
import { MemoryCluster } from './registry/memory/index.js';
import { NotGuardedError } from './sharding.errors.js';
import { ShardingModule } from './sharding.module.js';
import { ShardingService } from './sharding.service.js';

const sharding = ShardingModule.forRoot({ registry: { type: 'memory' }, total: 8 });

class Recorder {
  readonly heard: string[] = [];

  @OnLeaderLost()
  lost(): void {
    this.heard.push('lost');
  }
}

describe('the explorer', () => {
  it('runs each kind of hook on its instance with its argument', async () => {
    class Listener {
      readonly heard: unknown[] = [];

      @OnLeader()
      lead(...args: unknown[]) {
        this.heard.push('lead', ...args);
      }

      @OnLeaderLost()
      lost(...args: unknown[]) {
        this.heard.push('lost', ...args);
      }

      @OnShardingStarted()
      started(...args: unknown[]) {
        this.heard.push('started', ...args);
      }

      @OnShardingCompleted()
      completed(...args: unknown[]) {
        this.heard.push('completed', ...args);
      }

      @OnShardAcquired()
      acquired(...args: unknown[]) {
        this.heard.push('acquired', ...args);
      }

      @OnShardReleased()
      released(...args: unknown[]) {
        this.heard.push('released', ...args);
      }
    }
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Listener] });
    await app.init();
    const { hooks, assignment } = fakes.only;
    const context = { term: 1n, signal: new AbortController().signal };
    const begun = { epoch: 2, previousTotal: 8, total: 8, losing: [1], keeping: [] };
    const shard = fakes.only.hold(1);
    const released = { item: 1, token: 1n, reason: 'drain' } as const;
    await hooks.leader(context);
    await hooks.leaderLost();
    await hooks.shardingStarted(begun);
    await hooks.shardingCompleted(assignment);
    await hooks.shardReleased(released);
    expect(app.get(Listener).heard).toEqual([
      ...['acquired', shard],
      ...['lead', context],
      'lost',
      ...['started', begun],
      ...['completed', assignment],
      ...['released', released],
    ]);
    await app.close();
  });

  it('scans providers of every kind, controllers and modules, each instance once', async () => {
    const heard: string[] = [];
    class Named {
      constructor(readonly name: string) {}

      @OnLeaderLost()
      lost(): void {
        heard.push(this.name);
      }
    }
    class ByClass extends Named {
      constructor() {
        super('class');
      }
    }
    @Controller()
    class ByController extends Named {
      constructor() {
        super('controller');
      }
    }
    @Module({})
    class ByModule extends Named {
      constructor() {
        super('module');
      }
    }
    const { app, fakes } = await fakedApp({
      imports: [sharding, ByModule],
      controllers: [ByController],
      providers: [
        ByClass,
        { provide: 'alias', useExisting: ByClass },
        { provide: 'same again', useFactory: (same: ByClass) => same, inject: [ByClass] },
        { provide: 'value', useValue: new Named('value') },
        { provide: 'factory', useFactory: async () => new Named('factory') },
        { provide: 'nothing', useValue: null },
        { provide: 'text', useValue: 'text' },
        { provide: 'bare', useValue: Object.create(null) },
        { provide: 'list', useValue: [1] },
      ],
    });
    await app.init();
    await fakes.only.hooks.leaderLost();
    expect(heard.toSorted()).toEqual(['class', 'controller', 'factory', 'module', 'value']);
    await app.close();
  });

  it('finds inherited hooks, and none where the method was overridden without', async () => {
    class Heir extends Recorder {}
    class Silent extends Recorder {
      override lost(): void {
        this.heard.push('overridden');
      }
    }
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Heir, Silent] });
    await app.init();
    await fakes.only.hooks.leaderLost();
    expect(app.get(Heir).heard).toEqual(['lost']);
    expect(app.get(Silent).heard).toEqual([]);
    await app.close();
  });

  it('stacks hooks, of several kinds and registrations', async () => {
    class Stacked {
      calls = 0;

      @OnLeaderLost()
      @OnLeaderLost({ sharding: 'b' })
      @OnShardingCompleted({ sharding: 'b' })
      tidy(): void {
        this.calls += 1;
      }
    }
    const second = ShardingModule.forRoot({
      registry: { type: 'memory' },
      total: 8,
      name: 'b',
      namespace: 'b',
    });
    const { app, fakes } = await fakedApp({ imports: [sharding, second], providers: [Stacked] });
    await app.init();
    await fakes.of('dynamic-sharding').hooks.leaderLost();
    expect(app.get(Stacked).calls).toBe(1);
    await fakes.of('b').hooks.leaderLost();
    await fakes.of('b').hooks.shardingCompleted(fakes.of('b').assignment);
    expect(app.get(Stacked).calls).toBe(3);
    await fakes.of('dynamic-sharding').hooks.shardingCompleted(fakes.of('b').assignment);
    expect(app.get(Stacked).calls).toBe(3);
    await app.close();
  });

  it('warns of a request-scoped provider and of one that depends on it, and skips both', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Recorder {}
    @Injectable()
    class Dependent {
      constructor(readonly request: PerRequest) {}

      @OnLeader()
      @LeaderOnly()
      lead(): void {}
    }
    const { app, fakes, logs } = await fakedApp({
      imports: [sharding],
      providers: [PerRequest, Dependent],
    });
    await app.init();
    await fakes.only.hooks.leaderLost();
    expect(() => new Dependent(new PerRequest()).lead()).toThrow(NotGuardedError);
    expect(logs.lines.map((line) => line.replace(/: its provider is .*/, ''))).toEqual([
      'warn ShardingExplorer: @OnLeaderLost on PerRequest@lost has no effect',
      'warn ShardingExplorer: @OnLeader on Dependent@lead has no effect',
      'warn ShardingExplorer: @LeaderOnly on Dependent@lead makes each call throw',
    ]);
    await app.close();
  });

  it('runs hooks on every instance of a transient provider', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Own extends Recorder {
      readonly made = true;
    }
    @Injectable()
    class One {
      constructor(readonly own: Own) {}
    }
    @Injectable()
    class Other {
      constructor(readonly own: Own) {}
    }
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Own, One, Other] });
    await app.init();
    await fakes.only.hooks.leaderLost();
    expect(app.get(One).own.heard).toEqual(['lost']);
    expect(app.get(Other).own.heard).toEqual(['lost']);
    await app.close();
  });

  it('calls what stands on the instance at the time, such as a spy', async () => {
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Recorder] });
    await app.init();
    app.get(Recorder).lost = () => void app.get(Recorder).heard.push('spy');
    await fakes.only.hooks.leaderLost();
    expect(app.get(Recorder).heard).toEqual(['spy']);
    await app.close();
  });

  it('lets a throwing hook be logged by its name while the service goes on', async () => {
    class Clumsy {
      @OnShardAcquired()
      work(): void {
        throw new Error('dropped it');
      }
    }
    const { app, fakes, logs } = await fakedApp({ imports: [sharding], providers: [Clumsy] });
    await app.init();
    fakes.only.hold(2);
    await fakes.only.release(2);
    expect(logs.lines).toEqual([
      'error ShardingHooks: @OnShardAcquired on Clumsy@work failed: dropped it',
    ]);
    expect(app.get(ShardingService).items).toEqual([]);
    await app.close();
  });

  it('names in one warning what an observer will never run, and lets it do nothing', async () => {
    class Jobs {
      readonly ran: string[] = [];

      @OnLeader()
      @LeaderOnly()
      lead(): void {
        this.ran.push('lead');
      }

      @PerShard()
      async sweep(_shard?: Shard): Promise<void> {
        this.ran.push('sweep');
      }

      @OnLeaderLost({ sharding: 'b' })
      lost(): void {}
    }
    const registry = { type: 'memory', cluster: new MemoryCluster() } as const;
    const { app, logs } = await fakedApp({
      imports: [
        ShardingModule.forRoot({ registry, role: 'observer' }),
        ShardingModule.forRoot({ registry, total: 8, name: 'b', namespace: 'b' }),
      ],
      providers: [Jobs],
    });
    await app.init();
    expect(logs.lines).toEqual([
      'warn ShardingExplorer: ShardingModule is an observer, which holds nothing and never leads, so ' +
        'these never run: @OnLeader on Jobs@lead, @LeaderOnly on Jobs@lead, @PerShard on Jobs@sweep. ' +
        'Move them to an application with role: "member"',
    ]);
    app.get(Jobs).lead();
    await app.get(Jobs).sweep();
    expect(app.get(Jobs).ran).toEqual([]);
    await app.close();
  });

  it('refuses a guarded method on a frozen instance, which could never find its gate', async () => {
    class Ice {
      @LeaderOnly()
      melt(): void {}
    }
    const { app } = await fakedApp({
      imports: [sharding],
      providers: [{ provide: Ice, useValue: Object.freeze(new Ice()) }],
    });
    await expect(app.init()).rejects.toThrow('@LeaderOnly on Ice@melt cannot work');
  });
});
