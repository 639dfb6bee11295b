import { describe, expect, it } from '@jest/globals';
import type { ShardingModuleOptions } from './interfaces/sharding-options.interface.js';
import { MemoryCluster } from './registry/memory/index.js';
import { InvalidShardingOptionsError } from './sharding.errors.js';
import { checkShardingOptions } from './sharding.options.js';

const source = {
  random: { fraction: () => 0, uuid: () => 'uuid', hex: (digits: number) => 'f'.repeat(digits) },
  ip: '10.0.0.7',
  pid: 42,
};
const least = { registry: { type: 'memory' }, total: 8 } as const;
const zookeeper = { type: 'zookeeper', connect: 'zk1:2181,zk2:2181/app' } as const;

const check = (options: object, name?: string) =>
  checkShardingOptions(name, options as ShardingModuleOptions, source);

describe('the options', () => {
  it('have the documented defaults', () => {
    expect(check(least)).toEqual({
      registry: { type: 'memory', cluster: undefined },
      role: 'member',
      autoStart: true,
      coordinator: {
        namespace: 'dynamic-sharding',
        instance: {
          id: '10.0.0.7@-@42@-@ffffffff',
          ip: '10.0.0.7',
          pid: 42,
          address: undefined,
          weight: 1,
          labels: {},
        },
        total: 8,
        strategy: undefined,
        strategies: {},
        onConfigMismatch: 'keep',
        lease: { duration: undefined, margin: undefined },
        startup: { wait: false, timeout: 60_000 },
        drainTimeout: 15_000,
        rebalanceDelay: 0,
        rejoin: { window: 0, lends: false },
        seedView: false,
      },
    });
  });

  it('need no total for an observer, and may be those of a member', () => {
    const { role, registry, coordinator } = check({ registry: zookeeper, role: 'observer' });
    expect({ role, registry }).toMatchObject({
      role: 'observer',
      registry: { type: 'zookeeper' },
    });
    expect(coordinator.namespace).toBe('dynamic-sharding');
    const shared = { ...least, strategy: 'average', drainTimeout: 5, instance: { weight: 2 } };
    expect(check({ ...shared, role: 'observer' })).toMatchObject({ role: 'observer' });
  });

  it('wait for more changes and write the seed view where the total follows the instances', () => {
    const { coordinator } = check({ ...least, total: 'instances' });
    expect(coordinator).toMatchObject({ rebalanceDelay: 1_000, seedView: true });
  });

  it('are taken as given', () => {
    const given = {
      registry: { ...zookeeper, auth: { scheme: 'digest', credentials: 'me:secret' } },
      namespace: 'team/app',
      total: 1_000_000,
      instance: { id: 'one', address: 'http://one:3000', weight: 2.5, labels: { zone: 'a' } },
      strategy: 'mine',
      strategies: { mine: () => [] },
      onConfigMismatch: 'fail',
      lease: { duration: 4_000, margin: 0 },
      startup: { wait: true, timeout: 1 },
      autoStart: false,
      drainTimeout: 0,
      rebalanceDelay: 250,
      rejoinWindow: 60_000,
      whileAway: 'lend',
      seedView: true,
      role: 'member',
    };
    const { registry, coordinator, autoStart } = check(given);
    expect(autoStart).toBe(false);
    expect(registry).toMatchObject({
      options: { connect: zookeeper.connect, sessionTimeout: 10_000 },
    });
    expect(coordinator).toMatchObject({
      namespace: 'team/app',
      instance: { id: 'one', address: 'http://one:3000', weight: 2.5, labels: { zone: 'a' } },
      strategy: 'mine',
      strategies: { mine: given.strategies.mine },
      onConfigMismatch: 'fail',
      lease: { duration: 4_000, margin: 0 },
      startup: { wait: true, timeout: 1 },
      drainTimeout: 0,
      rebalanceDelay: 250,
      rejoin: { window: 60_000, lends: true },
      seedView: true,
    });
  });

  it('take undefined for left out', () => {
    const given = { ...least, namespace: undefined, lease: undefined, instance: { id: undefined } };
    expect(check(given)).toEqual(check(least));
  });

  it('know equal stores by equal keys', () => {
    const key = (registry: object) =>
      (check({ ...least, registry }).registry as { key: string }).key;
    expect(key({ ...zookeeper, sessionTimeout: 10_000 })).toBe(key(zookeeper));
    expect(key({ ...zookeeper, connect: ' ZK1,zk2/app' })).toBe(key(zookeeper));
    expect(key({ ...zookeeper, connect: 'zk1,zk2/other' })).not.toBe(key(zookeeper));
    expect(key({ ...zookeeper, sessionTimeout: 5_000 })).not.toBe(key(zookeeper));
    expect(key({ ...zookeeper, auth: { credentials: 'a:b' } })).not.toBe(key(zookeeper));
  });

  it.each<[string, object | undefined, string]>([
    [
      'nothing at all',
      undefined,
      'the value of the options is undefined: expected an object with registry',
    ],
    ['no registry', { total: 8 }, "registry is missing: expected { type: 'memory' } or"],
    [
      'no total',
      { registry: least.registry },
      'total is missing: expected a whole number from 1 to 1000000',
    ],
    [
      'an unknown option',
      { ...least, totals: 1 },
      'totals is not an option; known here: registry, namespace',
    ],
    [
      'a misplaced name',
      { ...least, name: 'x' },
      'name is not an option that a factory can give: put it beside',
    ],
    [
      'a total of 0',
      { ...least, total: 0 },
      'total is 0: expected a whole number from 1 to 1000000, or "instances"',
    ],
    ['a total as text', { ...least, total: '8' }, 'total is "8": expected a whole number'],
    ['half a total', { ...least, total: 1.5 }, 'total is 1.5: expected a whole number'],
    ['too large a total', { ...least, total: 1_000_001 }, 'total is 1000001: expected'],
    ['NaN', { ...least, total: Number.NaN }, 'total is NaN: expected'],
    [
      'another store',
      { ...least, registry: { type: 'etcd' } },
      'registry.type is "etcd": expected "memory" or "zookeeper"',
    ],
    [
      'a store without type',
      { ...least, registry: {} },
      "registry.type is missing: expected 'memory' or 'zookeeper'",
    ],
    [
      'a registry as text',
      { ...least, registry: 'zk://u:secret@h' },
      'registry is a string: expected { type',
    ],
    [
      'an option of the other store',
      { ...least, registry: { type: 'memory', connect: 'h' } },
      'registry.connect is not an option; known here: type, cluster',
    ],
    [
      'a strange cluster',
      { ...least, registry: { type: 'memory', cluster: {} } },
      'registry.cluster is an object: expected a MemoryCluster',
    ],
    [
      'no servers',
      { ...least, registry: { type: 'zookeeper' } },
      'registry.connect is missing: expected servers',
    ],
    [
      'bad servers',
      { ...least, registry: { ...zookeeper, connect: 'h:99999' } },
      '"99999" is not a port',
    ],
    [
      'a bad session timeout',
      { ...least, registry: { ...zookeeper, sessionTimeout: -1 } },
      'registry.sessionTimeout is -1: expected a positive number',
    ],
    [
      'a bad connect timeout',
      { ...least, registry: { ...zookeeper, connectTimeout: '1s' } },
      'registry.connectTimeout is "1s": expected',
    ],
    [
      'TLS',
      { ...least, registry: { ...zookeeper, tls: {} } },
      'registry.tls is set, but the native ZooKeeper client has no TLS',
    ],
    [
      'the wire client',
      { ...least, registry: { ...zookeeper, client: 'wire' } },
      'registry.client is "wire", which is not available yet',
    ],
    [
      'an unknown client',
      { ...least, registry: { ...zookeeper, client: 'x' } },
      'registry.client is "x": expected "native" or "wire"',
    ],
    [
      'another scheme',
      { ...least, registry: { ...zookeeper, auth: { scheme: 'sasl', credentials: 'u:secret' } } },
      'registry.auth.scheme (not shown) is unknown',
    ],
    [
      'bad credentials',
      { ...least, registry: { ...zookeeper, auth: { credentials: 'secret' } } },
      'registry.auth.credentials (not shown)',
    ],
    [
      'credentials as text',
      { ...least, registry: { ...zookeeper, auth: 'u:secret' } },
      'registry.auth is a string: expected { scheme',
    ],
    [
      'a key beside credentials',
      { ...least, registry: { ...zookeeper, auth: { password: 'secret' } } },
      'registry.auth.password is not an option',
    ],
    [
      'an empty namespace',
      { ...least, namespace: '' },
      'namespace is "": expected a string of 1 to 200 characters',
    ],
    [
      'a namespace with a slash before',
      { ...least, namespace: '/a' },
      'namespace is "/a": expected a path without a slash at its ends',
    ],
    [
      'a namespace that leads up',
      { ...least, namespace: 'a/../b' },
      'namespace is "a/../b": expected',
    ],
    [
      "ZooKeeper's own namespace",
      { ...least, namespace: 'zookeeper' },
      'namespace is "zookeeper": expected',
    ],
    [
      'an empty id',
      { ...least, instance: { id: '' } },
      'instance.id is "": expected a string of 1 to 200 characters',
    ],
    [
      'an id with a slash',
      { ...least, instance: { id: 'a/b' } },
      'instance.id is "a/b": expected a name without slashes',
    ],
    [
      'an id with a control character',
      { ...least, instance: { id: 'a\nb' } },
      'instance.id is "a\\nb": expected a name without',
    ],
    [
      'too long an id',
      { ...least, instance: { id: 'x'.repeat(201) } },
      'expected a string of 1 to 200 characters',
    ],
    ['an id as a number', { ...least, instance: { id: 7 } }, 'instance.id is 7: expected a string'],
    [
      'an address as an object',
      { ...least, instance: { address: {} } },
      'instance.address is an object: expected',
    ],
    [
      'a negative weight',
      { ...least, instance: { weight: -1 } },
      'instance.weight is -1: expected a number from 0',
    ],
    [
      'a weight without end',
      { ...least, instance: { weight: Infinity } },
      'instance.weight is Infinity: expected a number from 0',
    ],
    [
      'no number as a weight',
      { ...least, instance: { weight: NaN } },
      'instance.weight is NaN: expected a number from 0',
    ],
    [
      'labels as a list',
      { ...least, instance: { labels: ['a'] } },
      'instance.labels is an array: expected an object',
    ],
    [
      'a label as a number',
      { ...least, instance: { labels: { a: 1 } } },
      'instance.labels.a is 1: expected a string',
    ],
    [
      'a strategy that nobody knows',
      { ...least, strategy: 'fair', strategies: { mine: () => [] } },
      'strategy is "fair": expected one of "sticky", "average", "odevity", "round-robin", "rendezvous", "mine"',
    ],
    [
      'a strategy as a function',
      { ...least, strategy: () => [] },
      'strategy is a function: expected a string',
    ],
    [
      'strategies as a list',
      { ...least, strategies: [() => []] },
      'strategies is an array: expected functions by name',
    ],
    [
      'a strategy that is no function',
      { ...least, strategies: { mine: 'sticky' } },
      'strategies.mine is "sticky": expected a function',
    ],
    [
      'a strategy with a name that is taken',
      { ...least, strategies: { average: () => [] } },
      'strategies.average needs another name: "average" is built in',
    ],
    [
      'another policy',
      { ...least, onConfigMismatch: 'warn' },
      'onConfigMismatch is "warn": expected "keep" or "overwrite" or "fail"',
    ],
    [
      'no lease',
      { ...least, lease: { duration: 0 } },
      'lease.duration is 0: expected a whole number of milliseconds from 100 to 2147483647',
    ],
    [
      "a namespace below ZooKeeper's own",
      { ...least, namespace: 'zookeeper/x' },
      'namespace is "zookeeper/x": expected',
    ],
    ['a negative margin', { ...least, lease: { margin: -5 } }, 'lease.margin is -5: expected'],
    [
      'an unknown part of the lease',
      { ...least, lease: { time: 1 } },
      'lease.time is not an option; known here: duration, margin',
    ],
    [
      'a lease as a number',
      { ...least, lease: 5 },
      'lease is a number: expected an object with duration, margin',
    ],
    ['null', { ...least, startup: null }, 'startup is null: expected an object with wait, timeout'],
    [
      'waiting as text',
      { ...least, startup: { wait: 'true' } },
      'startup.wait is "true": expected true or false',
    ],
    [
      'waiting for no time',
      { ...least, startup: { timeout: 0 } },
      'startup.timeout is 0: expected',
    ],
    ['autoStart as a number', { ...least, autoStart: 1 }, 'autoStart is 1: expected true or false'],
    [
      'endless draining',
      { ...least, drainTimeout: Infinity },
      'drainTimeout is Infinity: expected a whole number',
    ],
    ['a negative delay', { ...least, rebalanceDelay: -1 }, 'rebalanceDelay is -1: expected'],
    [
      'a rejoin window without an id',
      { ...least, rejoinWindow: 5_000, instance: { weight: 2 } },
      'rejoinWindow is 5000, and instance.id is missing: set one that is the same after a restart',
    ],
    ['a negative rejoin window', { ...least, rejoinWindow: -1 }, 'rejoinWindow is -1: expected'],
    [
      'something else while away',
      { ...least, whileAway: 'sleep' },
      'whileAway is "sleep": expected "wait" or "lend"',
    ],
    [
      'a seed view as text',
      { ...least, seedView: 'yes' },
      'seedView is "yes": expected true or false',
    ],
    [
      'a member without a total',
      { ...least, role: 'member', total: undefined },
      'total is missing: expected',
    ],
    [
      'an observer with a total that nobody could have',
      { ...least, role: 'observer', total: 0 },
      'total is 0: expected',
    ],
    [
      'an observer with a weight that nobody could have',
      { ...least, role: 'observer', instance: { weight: -1 } },
      'instance.weight is -1: expected',
    ],
    [
      'another role',
      { ...least, role: 'leader' },
      'role is "leader": expected "member" or "observer"',
    ],
  ])('refuse %s', (_, given, problem) => {
    let refusal: unknown;
    try {
      check(given as object, 'orders');
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InvalidShardingOptionsError);
    expect((refusal as Error).message).toContain(problem);
    expect((refusal as Error).message).toMatch(/^ShardingModule "orders": /);
    expect((refusal as Error).message).not.toContain('secret');
  });

  it('take a cluster by its shape, since it may come from another copy of the package', () => {
    const cluster = new MemoryCluster();
    expect(check({ ...least, registry: { type: 'memory', cluster } }).registry).toEqual({
      type: 'memory',
      cluster,
    });
  });
});
