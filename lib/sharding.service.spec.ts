import { describe, expect, it } from '@jest/globals';
import { Recording } from '../test/conformance/recording.js';
import { fakedApp } from '../test/kit/sharding-app.js';
import { shardOf } from './hash/shard-of.js';
import { ShardingNotReadyError } from './sharding.errors.js';
import { ShardingModule } from './sharding.module.js';
import { ShardingService } from './sharding.service.js';

async function service() {
  const imports = [ShardingModule.forRoot({ registry: { type: 'memory' }, total: 8 })];
  const { app, fakes } = await fakedApp({ imports });
  return { sharding: app.get(ShardingService), coordinator: fakes.only };
}

describe('ShardingService', () => {
  it('holds nothing before it has started', async () => {
    const { sharding } = await service();
    expect(sharding).toMatchObject({
      items: [],
      total: 0,
      isLeader: false,
      leaderId: undefined,
      status: 'connecting',
    });
    expect(sharding.owns(0)).toBe(false);
    expect(sharding.token(0)).toBeUndefined();
    expect(sharding.shard(0)).toBeUndefined();
    expect(sharding.ownerOf(0)).toBeUndefined();
  });

  it.each(['shardOf', 'ownsKey', 'ownerOfKey'] as const)(
    'cannot answer %s() before the total is known, and says what to wait for',
    async (question) => {
      const { sharding } = await service();
      expect(() => sharding[question]('key')).toThrow(ShardingNotReadyError);
      expect(() => sharding[question]('key')).toThrow(`${question}() has no answer yet`);
      expect(() => sharding[question]('key')).toThrow('whenReady()');
    },
  );

  it('finds the shard of a key, and its owner', async () => {
    const { sharding, coordinator } = await service();
    coordinator.total = 8;
    const item = shardOf('customer-1', 8);
    expect(sharding.shardOf('customer-1')).toBe(item);
    expect(sharding.ownsKey('customer-1')).toBe(false);
    expect(sharding.ownerOfKey('customer-1')).toBeUndefined();
    const shard = coordinator.hold(item);
    expect(sharding.ownsKey('customer-1')).toBe(true);
    expect(sharding.ownerOfKey('customer-1')).toEqual({ instanceId: sharding.instanceId });
    expect(sharding.shard(item)).toBe(shard);
    expect(sharding.token(item)).toBe(shard.token);
    expect(sharding.assignment).toMatchObject({ items: [item], total: 8 });
  });

  it('tells which shards have another owner', async () => {
    const { sharding, coordinator } = await service();
    const seen = new Recording(sharding.owners$);
    const change = { epoch: 1, total: 8, changed: [3] };
    coordinator.owners$.next(change);
    expect(seen.values).toEqual([change]);
  });

  it('passes on what it is asked to do', async () => {
    const { sharding, coordinator } = await service();
    await sharding.start();
    await sharding.whenReady();
    await sharding.drain();
    await sharding.resume();
    await sharding.reshard();
    expect(coordinator.calls).toEqual(['start', 'whenReady', 'drain', 'resume', 'reshard']);
  });
});
