import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Global, Injectable, Module } from '@nestjs/common';
import { VERSION_MAJOR } from '../test/kit/nest-version.js';
import { deferred } from '../test/kit/eventually.js';
import { FakeCoordinators } from '../test/kit/fake-coordinator.js';
import { fakedApp } from '../test/kit/sharding-app.js';
import { VirtualTime } from '../test/kit/virtual-clock.js';
import type { ShardingModuleOptions } from './interfaces/sharding-options.interface.js';
import { systemRandom } from './registry/environment.js';
import { MemoryCluster } from './registry/memory/index.js';
import { NoAuthError } from './registry/registry.errors.js';
import { ShardingModule } from './sharding.module.js';
import { ShardingService } from './sharding.service.js';

const least: ShardingModuleOptions = { registry: { type: 'memory' }, total: 8 };

const never = () => new Promise<void>(() => {});

function virtualWorld() {
  const time = new VirtualTime();
  return { time, world: { clock: time.clock(), random: systemRandom } };
}

describe('the life of an application', () => {
  /** The library comes first and goes last on Nest 11 and later; Nest 10 goes by depth alone. */
  const onNewerNest = VERSION_MAJOR >= 11 ? it : it.skip;

  onNewerNest.each([{ isGlobal: true }, { isGlobal: false }])(
    'starts before and stops after everything of the application (%j)',
    async ({ isGlobal }) => {
      const history: string[] = [];
      @Injectable()
      class Life {
        onModuleInit = () => void history.push('user init');
        onApplicationBootstrap = () => void history.push('user bootstrap');
        onModuleDestroy = () => void history.push('user destroy');
        beforeApplicationShutdown = () => void history.push('user before shutdown');
        onApplicationShutdown = () => void history.push('user shutdown');
      }
      // Deeper than the library's modules, which alone decides on Nest 10.
      @Module({ providers: [Life] })
      class Deepest {}
      @Module({ imports: [Deepest] })
      class Deeper {}
      @Module({ imports: [Deeper] })
      class Deep {}

      const fakes = new FakeCoordinators((fake) => {
        fake.starting = async () => {
          await fake.registry.connect();
          fake.registry.session$.subscribe({ complete: () => history.push('session closed') });
          history.push('started');
        };
        fake.stopping = async () => void history.push('stopped');
      });
      const imports = [Deep, ShardingModule.forRoot({ ...least, isGlobal })];
      const { app } = await fakedApp({ imports }, { fakes });
      await app.init();
      await app.close();
      expect(history).toEqual([
        'user init',
        'started',
        'user bootstrap',
        'user destroy',
        'stopped',
        'user before shutdown',
        'user shutdown',
        'session closed',
      ]);
    },
  );

  it('starts only when told to with autoStart: false', async () => {
    const { app, fakes } = await fakedApp({
      imports: [ShardingModule.forRoot({ ...least, autoStart: false })],
    });
    await app.init();
    expect(fakes.only.calls).toEqual([]);
    await app.get(ShardingService).start();
    expect(fakes.only.calls).toEqual(['start']);
    await app.close();
    expect(fakes.only.calls).toEqual(['start', 'stop']);
  });

  it('waits for its group with startup.wait', async () => {
    const ready = deferred();
    const fakes = new FakeCoordinators((fake) => (fake.starting = () => ready.promise));
    const { time, world } = virtualWorld();
    const options = { ...least, startup: { wait: true } };
    const { app } = await fakedApp(
      { imports: [ShardingModule.forRoot(options)] },
      { fakes, world },
    );
    let started = false;
    const starting = app.init().then(() => (started = true));
    await time.advance(30_000);
    expect(started).toBe(false);
    ready.resolve();
    await starting;
    await app.close();
  });

  it('starts without its group while the store is down, and warns', async () => {
    const fakes = new FakeCoordinators((fake) => (fake.starting = never));
    const { time, world } = virtualWorld();
    const registry = { type: 'zookeeper', connect: 'zk1:2181' } as const;
    const imports = [ShardingModule.forRoot({ ...least, registry })];
    const { app, logs } = await fakedApp({ imports }, { fakes, world });
    let started = false;
    void app.init().then(() => (started = true));
    await time.runUntil(() => started, 3_000);
    expect(logs.lines).toEqual([
      expect.stringMatching(/^warn Sharding: ShardingModule is not part of its group on zk1:2181/),
    ]);
    await app.close();
  });

  it('starts without a view of its group as an observer while the store is down, and warns', async () => {
    const { time, world } = virtualWorld();
    const cluster = new MemoryCluster(world);
    for (const server of cluster.servers) server.stop();
    const registry = { type: 'memory', cluster } as const;
    const imports = [ShardingModule.forRoot({ registry, role: 'observer' })];
    const { app, logs } = await fakedApp({ imports }, { world });
    let started = false;
    void app.init().then(() => (started = true));
    await time.runUntil(() => started, 3_000);
    expect(logs.lines).toEqual([
      expect.stringMatching(
        /^warn Sharding: ShardingModule has not seen its group on the memory cluster/,
      ),
    ]);
    await app.close();
    expect(logs.lines).toHaveLength(1);
  });

  it('does not hold the application up, and says nothing, where the group is there at once', async () => {
    const { time, world } = virtualWorld();
    const { app, logs } = await fakedApp({ imports: [ShardingModule.forRoot(least)] }, { world });
    await app.init();
    expect(time.now).toBe(0);
    await app.close();
    expect(time.pending).toBe(0);
    expect(logs.lines).toEqual([]);
  });

  it('does not start with refused credentials, and leaves nothing behind', async () => {
    const refusal = new NoAuthError({ operation: 'create', path: '/orders' });
    const fakes = new FakeCoordinators((fake) => {
      const isRefused = fake.options.namespace === 'orders';
      fake.starting = () => (isRefused ? Promise.reject(refusal) : fake.registry.connect());
    });
    const imports = [
      ShardingModule.forRoot(least),
      ShardingModule.forRoot({ ...least, name: 'orders', namespace: 'orders' }),
    ];
    const { app } = await fakedApp({ imports }, { fakes });
    await expect(app.init()).rejects.toBe(refusal);
    expect(fakes.made.map(({ calls }) => calls)).toEqual([
      ['start', 'stop'],
      ['start', 'stop'],
    ]);
    expect(fakes.of('orders').registry.session.state).toBe('closed');
  });

  it('logs a failure that comes after the application has started', async () => {
    const start = deferred();
    const fakes = new FakeCoordinators((fake) => (fake.starting = () => start.promise));
    const { time, world } = virtualWorld();
    const imports = [ShardingModule.forRoot(least)];
    const { app, logs } = await fakedApp({ imports }, { fakes, world });
    let started = false;
    void app.init().then(() => (started = true));
    await time.runUntil(() => started, 3_000);
    start.reject(new NoAuthError({ operation: 'create', path: '/a' }));
    await time.settle();
    expect(logs.lines.at(-1)).toMatch(
      /^error Sharding: ShardingModule could not start, .*access denied/,
    );
    await app.close();
  });

  it('closes all the same when leaving fails or never ends', async () => {
    const { time, world } = virtualWorld();
    const fakes = new FakeCoordinators((fake) => {
      const fails = fake.options.namespace === 'fails';
      fake.stopping = () => (fails ? Promise.reject(new Error('no way out')) : never());
    });
    const imports = ['fails', 'hangs'].map((name) =>
      ShardingModule.forRoot({ ...least, name, namespace: name, drainTimeout: 1_000 }),
    );
    const { app, logs } = await fakedApp({ imports }, { fakes, world });
    await app.init();
    let closed = false;
    void app.close().then(() => (closed = true));
    await time.runUntil(() => closed, 6_000);
    expect(logs.lines).toEqual([
      'error Sharding:fails: ShardingModule "fails" did not leave its group in good order: no way out',
      'warn Sharding:hangs: ShardingModule "hangs" has not left its group within 6000 ms; ' +
        'shutting down all the same',
    ]);
    expect(fakes.of('hangs').registry.session.state).toBe('closed');
  });

  it('lets another global module use the service when it starts', async () => {
    let items: readonly number[] | undefined;
    @Global()
    @Module({})
    class UserGlobal {
      constructor(private readonly sharding: ShardingService) {}

      onApplicationBootstrap(): void {
        items = this.sharding.items;
      }
    }
    const { app } = await fakedApp({ imports: [UserGlobal, ShardingModule.forRoot(least)] });
    await app.init();
    expect(items).toEqual([]);
    await app.close();
  });
});

describe('an application that nobody tells to stop', () => {
  const listeners = jest.spyOn(process, 'listenerCount');
  afterEach(() => void listeners.mockReset());

  const listening = (count: number) => listeners.mockReturnValue(count);

  it('is reminded of its shutdown hooks, once', async () => {
    listening(0);
    const { time, world } = virtualWorld();
    const imports = ['a', 'b'].map((name) =>
      ShardingModule.forRoot({ ...least, name, namespace: name }),
    );
    const { app, logs } = await fakedApp({ imports }, { world });
    await app.init();
    await time.advance(60_000);
    expect(logs.lines).toEqual([
      expect.stringMatching(
        /^warn Sharding: Nothing listens to SIGTERM.*app\.enableShutdownHooks\(\)/,
      ),
    ]);
    await app.close();
  });

  it('is not if it only observes: nobody waits for what it leaves behind', async () => {
    listening(0);
    const { time, world } = virtualWorld();
    const registry = { type: 'memory', cluster: new MemoryCluster() } as const;
    const imports = [ShardingModule.forRoot({ registry, role: 'observer' })];
    const { app, logs } = await fakedApp({ imports }, { world });
    await app.init();
    await time.advance(60_000);
    expect(logs.lines).toEqual([]);
    await app.close();
  });

  it('is not if they are enabled right after it has started', async () => {
    listening(0);
    const { time, world } = virtualWorld();
    const { app, logs } = await fakedApp({ imports: [ShardingModule.forRoot(least)] }, { world });
    await app.init();
    listening(1);
    await time.advance(60_000);
    expect(logs.lines).toEqual([]);
    await app.close();
  });

  it('is not if it was closed before', async () => {
    listening(0);
    const { time, world } = virtualWorld();
    const { app, logs } = await fakedApp({ imports: [ShardingModule.forRoot(least)] }, { world });
    await app.init();
    await app.close();
    await time.advance(60_000);
    expect(logs.lines).toEqual([]);
  });
});
