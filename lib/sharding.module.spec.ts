import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { FakeCoordinators } from '../test/kit/fake-coordinator.js';
import { fakedApp } from '../test/kit/sharding-app.js';
import { InjectSharding, OnLeader } from './decorators/index.js';
import type {
  ShardingModuleOptions,
  ShardingOptionsFactory,
  ShardingRole,
} from './interfaces/sharding-options.interface.js';
import { ObserverHoldsNothingError } from './coordinator/coordinator.errors.js';
import { MemoryCluster } from './registry/memory/index.js';
import { DuplicateShardingError, InvalidShardingOptionsError } from './sharding.errors.js';
import { ShardingModule } from './sharding.module.js';
import { ShardingService } from './sharding.service.js';
import { getShardingOptionsToken, getShardingToken } from './sharding.tokens.js';

const least: ShardingModuleOptions = { registry: { type: 'memory' }, total: 8 };

@Injectable()
class Settings implements ShardingOptionsFactory {
  createShardingOptions(): ShardingModuleOptions {
    return { ...least, namespace: 'from-settings' };
  }
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

describe('ShardingModule', () => {
  it('provides the service by class and by token, everywhere', async () => {
    @Injectable()
    class Far {
      constructor(
        readonly byClass: ShardingService,
        @InjectSharding() readonly byToken: ShardingService,
      ) {}
    }
    @Module({ providers: [Far] })
    class FarModule {}

    const { app } = await fakedApp({ imports: [ShardingModule.forRoot(least), FarModule] });
    const { byClass, byToken } = app.get(Far);
    expect(byClass).toBeInstanceOf(ShardingService);
    expect(byToken).toBe(byClass);
    expect(app.get(getShardingToken())).toBe(byClass);
    expect(app.get(getShardingOptionsToken())).toEqual(least);
  });

  it('tells the coordinator what the options say', async () => {
    const { fakes, app } = await fakedApp({
      imports: [ShardingModule.forRoot({ ...least, isGlobal: false, instance: { id: 'me' } })],
    });
    expect(fakes.only.options).toMatchObject({ total: 8, instance: { id: 'me' } });
    expect(app.get(ShardingService).instanceId).toBe('me');
  });

  it('draws an id that is unique in containers and for two apps in one process', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const { app } = await fakedApp({ imports: [ShardingModule.forRoot(least)] });
        return app.get(ShardingService).instanceId;
      }),
    );
    for (const id of ids) {
      expect(id).toMatch(new RegExp(`^\\d+\\.\\d+\\.\\d+\\.\\d+@-@${process.pid}@-@[0-9a-f]{8}$`));
    }
    expect(ids[0]).not.toBe(ids[1]);
  });

  it.each([
    [
      'useFactory',
      { useFactory: (settings: Settings) => settings.createShardingOptions(), inject: [Settings] },
    ],
    ['useClass', { useClass: Settings }],
    ['useExisting', { useExisting: Settings }],
  ])('takes options by %s', async (_, how) => {
    const { fakes } = await fakedApp({
      imports: [ShardingModule.forRootAsync({ imports: [SettingsModule], ...how })],
    });
    expect(fakes.only.options.namespace).toBe('from-settings');
  });

  it('keeps its providers to those who import it if it is not global', async () => {
    @Injectable()
    class Elsewhere {
      constructor(readonly sharding: ShardingService) {}
    }
    @Module({ providers: [Elsewhere] })
    class ElsewhereModule {}

    const sharding = ShardingModule.forRoot({ ...least, isGlobal: false });
    const app = fakedApp({ imports: [sharding, ElsewhereModule] });
    await expect(app).rejects.toThrow(/Elsewhere/);
  });

  it('can be imported bare', async () => {
    @Module({ imports: [ShardingModule] })
    class FeatureModule {}

    const alone = await fakedApp({ imports: [FeatureModule] });
    await alone.app.init();
    await alone.app.close();
    const beside = await fakedApp({ imports: [FeatureModule, ShardingModule.forRoot(least)] });
    await beside.app.init();
    expect(beside.fakes.only.calls).toEqual(['start']);
    await beside.app.close();
  });

  describe('with names', () => {
    it('keeps registrations apart', async () => {
      @Injectable()
      class Both {
        constructor(
          readonly unnamed: ShardingService,
          @InjectSharding('orders') readonly orders: ShardingService,
        ) {}
      }
      const { app, fakes } = await fakedApp({
        imports: [
          ShardingModule.forRoot(least),
          ShardingModule.forRootAsync({
            name: 'orders',
            useFactory: () => ({ ...least, namespace: 'orders', instance: { id: 'other' } }),
          }),
        ],
        providers: [Both],
      });
      expect(fakes.made).toHaveLength(2);
      expect(app.get(Both).orders.instanceId).toBe('other');
      expect(app.get(Both).unnamed.instanceId).not.toBe('other');
      expect(app.get(getShardingOptionsToken('orders'))).toMatchObject({ namespace: 'orders' });
    });

    it('does not provide the class itself', async () => {
      const { app } = await fakedApp({
        imports: [ShardingModule.forRoot({ ...least, name: 'a' })],
      });
      expect(() => app.get(ShardingService)).toThrow();
    });

    it('refuses the same name twice', async () => {
      const app = fakedApp({
        imports: [
          ShardingModule.forRoot({ ...least, name: 'orders', namespace: 'a' }),
          ShardingModule.forRoot({ ...least, name: 'orders', namespace: 'b' }),
        ],
      });
      await expect(app).rejects.toThrow(DuplicateShardingError);
      await expect(app).rejects.toThrow('ShardingModule "orders" is registered twice');
    });

    it('says which import is missing where an unknown name is injected', async () => {
      @Injectable()
      class Reader {
        constructor(@InjectSharding('nobody') readonly sharding: ShardingService) {}
      }
      const app = fakedApp({ imports: [ShardingModule.forRoot(least)], providers: [Reader] });
      await expect(app).rejects.toThrow(/Reader/);
      await expect(app).rejects.toThrow('ShardingModule.forRoot({ name: "nobody", … })');
    });
  });

  // Nest 10 makes one of them, later releases two.
  it('refuses or unites the same registration imported twice', async () => {
    const imports = () => [ShardingModule.forRoot({ ...least })];
    @Module({ imports: imports() })
    class OneModule {}
    @Module({ imports: imports() })
    class OtherModule {}

    const fakes = new FakeCoordinators();
    const app = await fakedApp({ imports: [OneModule, OtherModule] }, { fakes }).catch(
      (error: unknown) => error,
    );
    if (app instanceof Error) {
      expect(app.message).toContain('ShardingModule is registered twice in this application');
    }
    expect(fakes.made).toHaveLength(1);
  });

  it('refuses two registrations in one group', async () => {
    const app = fakedApp({
      imports: [ShardingModule.forRoot(least), ShardingModule.forRoot({ ...least, name: 'b' })],
    });
    await expect(app).rejects.toThrow(DuplicateShardingError);
    await expect(app).rejects.toThrow(
      'both use the namespace "dynamic-sharding" on the same store',
    );
  });

  it('makes an observer, which may stand beside a member of the same group', async () => {
    const registry = { type: 'memory', cluster: new MemoryCluster() } as const;
    const observer = { registry, role: 'observer' } as const;
    const { app, fakes } = await fakedApp({
      imports: [
        ShardingModule.forRoot({ ...observer, name: 'one', instance: { id: 'me' } }),
        ShardingModule.forRootAsync({ useFactory: () => ({ ...least, registry }) }),
        ShardingModule.forRoot({ ...observer, name: 'other' }),
      ],
    });
    // Only the member's is of the factory.
    expect(fakes.made).toHaveLength(1);
    const sharding = app.get<ShardingService>(getShardingToken('one'));
    expect(sharding).toMatchObject({ instanceId: 'me', status: 'connecting' });
    await expect(sharding.drain()).rejects.toThrow(ObserverHoldsNothingError);
  });

  it('needs a total unless it observes', () => {
    const registry = { type: 'memory' } as const;
    ShardingModule.forRoot({ registry, role: 'observer' });
    const role = 'observer' as ShardingRole;
    ShardingModule.forRoot({ registry, role, total: 8 });
    // @ts-expect-error A member has to say how many shards there are.
    ShardingModule.forRoot({ registry, role: 'member' });
  });

  it('checks options when they arrive, before anything starts', async () => {
    const fakes = new FakeCoordinators();
    const useFactory = () => Promise.resolve({ ...least, total: 0 });
    const app = fakedApp({ imports: [ShardingModule.forRootAsync({ useFactory })] }, { fakes });
    await expect(app).rejects.toThrow(InvalidShardingOptionsError);
    await expect(app).rejects.toThrow('ShardingModule: total is 0: expected');
    expect(fakes.made).toEqual([]);
  });

  it.each([
    [
      () => ShardingModule.forRootAsync({}),
      'exactly one of useFactory, useClass and useExisting; none is given',
    ],
    [
      () => ShardingModule.forRootAsync({ useFactory: () => least, useClass: Settings }),
      'useFactory and useClass are given',
    ],
    [
      () => ShardingModule.forRootAsync(undefined as never),
      'ShardingModule.forRootAsync() needs an object',
    ],
    [
      () => ShardingModule.forRoot(undefined as never),
      'ShardingModule.forRoot() needs an object with options',
    ],
    [() => ShardingModule.forRoot({ ...least, name: '' }), 'The name of a ShardingModule is ""'],
    [
      () => ShardingModule.forRoot({ ...least, name: 7 as never }),
      'The name of a ShardingModule is a number',
    ],
    [
      () => ShardingModule.forRoot({ ...least, isGlobal: 'no' as never }),
      'isGlobal is a string: expected true or false',
    ],
  ])('refuses what cannot be a registration: %s', (register, problem) => {
    expect(register).toThrow(InvalidShardingOptionsError);
    expect(register).toThrow(problem);
  });

  it('warns of the memory registry in production', async () => {
    const former = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = 'production';
    try {
      const { logs } = await fakedApp({
        imports: [ShardingModule.forRoot({ ...least, name: 'a' })],
      });
      expect(logs.lines).toEqual([
        expect.stringMatching(/^warn Sharding:a: .*"memory" while NODE_ENV is "production"/),
      ]);
    } finally {
      process.env['NODE_ENV'] = former;
    }
  });

  it('warns of a seed view that would not be written', async () => {
    const options = { ...least, total: 1_001, seedView: true };
    const { logs } = await fakedApp({ imports: [ShardingModule.forRoot(options)] });
    expect(logs.lines).toEqual([expect.stringContaining('only for totals up to 1000')]);
  });
});

describe('several registrations of one application', () => {
  const zookeeper = { type: 'zookeeper', connect: 'zk1:2181' } as const;
  const cluster = new MemoryCluster();

  it.each([
    ['the same ensemble', zookeeper, { ...zookeeper, sessionTimeout: 10_000 }, true],
    ['another chroot', zookeeper, { ...zookeeper, connect: 'zk1:2181/a' }, false],
    ['another timeout', zookeeper, { ...zookeeper, sessionTimeout: 6_000 }, false],
    [
      'the same cluster',
      { type: 'memory', cluster } as const,
      { type: 'memory', cluster } as const,
      true,
    ],
    ['a private cluster', { type: 'memory' } as const, { type: 'memory' } as const, true],
    ['another cluster', { type: 'memory', cluster } as const, { type: 'memory' } as const, false],
    ['another kind of store', { type: 'memory' } as const, zookeeper, false],
  ])('share a connection where their stores are equal: %s', async (_, one, other, shared) => {
    const { fakes } = await fakedApp({
      imports: [
        ShardingModule.forRoot({ registry: one, total: 8, namespace: 'a' }),
        ShardingModule.forRoot({ registry: other, total: 8, namespace: 'b', name: 'b' }),
      ],
    });
    expect(fakes.of('a').registry === fakes.of('b').registry).toBe(shared);
  });

  it('do not share a private cluster with another application', async () => {
    const one = await fakedApp({ imports: [ShardingModule.forRoot(least)] });
    const other = await fakedApp({ imports: [ShardingModule.forRoot(least)] });
    const registries = [one, other].map(({ fakes }) => fakes.only.registry);
    await registries[0]!.connect();
    await registries[0]!.create('/here', Buffer.alloc(0));
    await registries[1]!.connect();
    expect(await registries[1]!.exists('/here')).toBeUndefined();
    await Promise.all(registries.map((registry) => registry.close()));
  });

  it('close the shared connection after the last has stopped', async () => {
    const history: string[] = [];
    const fakes = new FakeCoordinators((fake) => {
      const { namespace } = fake.options;
      fake.starting = () => fake.registry.connect();
      fake.stopping = async () => {
        await Promise.resolve();
        history.push(`${namespace} ${fake.registry.session.state}`);
      };
    });
    const { app } = await fakedApp(
      {
        imports: [
          ShardingModule.forRoot({ ...least, namespace: 'a' }),
          ShardingModule.forRoot({ ...least, namespace: 'b', name: 'b' }),
        ],
      },
      { fakes },
    );
    await app.init();
    await app.close();
    expect(history.toSorted()).toEqual(['a connected', 'b connected']);
    expect(fakes.of('a').registry.session.state).toBe('closed');
  });
});

describe('a hook without its registration', () => {
  class Watcher {
    @OnLeader({ sharding: 'orders' })
    lead(): void {}

    @OnLeader()
    leadUnnamed(): void {}
  }

  it('is a bootstrap error that names the method and what is registered', async () => {
    const { app, fakes } = await fakedApp({
      imports: [ShardingModule.forRoot({ ...least, name: 'other' })],
      providers: [Watcher],
    });
    await expect(app.init()).rejects.toThrow(
      '@OnLeader({ sharding: "orders" }) on Watcher@lead needs ShardingModule.forRoot({ name: "orders", … }), ' +
        'which is not imported\n' +
        '@OnLeader() on Watcher@leadUnnamed needs ShardingModule.forRoot({ … }), which is not imported\n' +
        'Registered in this application: "other"',
    );
    expect(fakes.only.calls).toEqual([]);
  });

  it('is one without any registration too', async () => {
    const { app } = await fakedApp({ imports: [ShardingModule], providers: [Watcher] });
    await expect(app.init()).rejects.toThrow(
      /Watcher@lead .*Registered in this application: none/s,
    );
  });
});
