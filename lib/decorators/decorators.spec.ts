import { describe, expect, it } from '@jest/globals';
import { SetMetadata } from '@nestjs/common';
import type { Shard, ShardAssignment } from '../interfaces/sharding-values.interface.js';
import {
  LeaderOnly,
  OnLeader,
  OnLeaderLost,
  OnShardAcquired,
  OnShardingCompleted,
  OnShardingStarted,
  OnShardReleased,
  PerShard,
} from './index.js';

const wrong = {} as never;

describe('the decorators', () => {
  it('take methods that can be called with what they give', () => {
    class Fine {
      @OnLeader() lead(_context: { signal: AbortSignal }): void {}
      @OnLeader() async leadFromAfar(): Promise<number> {
        return 1;
      }
      @OnLeaderLost() lost(): void {}
      @OnShardingStarted() started({ losing }: { losing: readonly number[] }): number {
        return losing.length;
      }
      @OnShardingCompleted() completed(_assignment: ShardAssignment): void {}
      @OnShardAcquired() async acquired(shard: Shard): Promise<void> {
        shard.signal.throwIfAborted();
      }
      @OnShardReleased() private released(_event: { item: number; reason: string }): void {}
      @LeaderOnly() report(_count: number, _title?: string): void {}
      @LeaderOnly({ sharding: 'orders' }) async reportLater(): Promise<void> {}
      @PerShard() work(_shard: Shard): void {}
      @PerShard({ concurrency: 4 }) async workLater(_shard?: Shard): Promise<void> {}
      @PerShard() async tick(): Promise<void> {}
      touch(): void {
        this.released({ item: 1, reason: 'drain' });
      }
    }
    expect(Fine).toBeDefined();
  });

  // Each of these lines is an error of the compiler: `tsc` fails if one of them becomes right.
  it('do not compile on methods that cannot', () => {
    class Wrong {
      // @ts-expect-error a context is no shard
      @OnLeader() lead(_shard: Shard): void {}
      // @ts-expect-error there is no argument
      @OnLeaderLost() lost(_reason: string): void {}
      // @ts-expect-error an event is no number
      @OnShardingStarted() started(_epoch: number): void {}
      // @ts-expect-error an assignment is no list of items
      @OnShardingCompleted() completed(_items: number[]): void {}
      // @ts-expect-error a shard is no number
      @OnShardAcquired() acquired(_item: number): void {}
      // @ts-expect-error there is one argument
      @OnShardAcquired() acquiredTwo(_shard: Shard, _other: string): void {}
      // @ts-expect-error an event is no shard
      @OnShardReleased() released(_shard: Shard): void {}
      // @ts-expect-error who does not run it has no result
      @LeaderOnly() count(): number {
        return 1;
      }
      // @ts-expect-error nor later
      @LeaderOnly() async countLater(): Promise<number> {
        return 1;
      }
      // @ts-expect-error a shard is no number
      @PerShard() work(_item: number): void {}
      // @ts-expect-error there would be many results
      @PerShard() workOut(_shard: Shard): number {
        return 1;
      }
    }
    // @ts-expect-error there is no such option
    const unknown = OnLeader({ shards: 'orders' });
    expect([Wrong, unknown]).toBeDefined();
  });

  it.each([
    [
      'a property',
      () => OnLeader()({}, 'lead', undefined as never),
      '@OnLeader on Object@lead: it decorates methods only',
    ],
    [
      'a static hook',
      () => OnLeader()(Date, 'lead', { value: () => {} }),
      '@OnLeader on Date@lead: the method is static',
    ],
    [
      'a static guarded method',
      () => LeaderOnly()(Date, 'lead', { value: () => {} }),
      '@LeaderOnly on Date@lead: the method is static',
    ],
    [
      'a method named by a symbol',
      () => {
        class Wrong {
          @OnLeader() [Symbol.for('lead')](): void {}
        }
        return Wrong;
      },
      '@OnLeader on Wrong@Symbol(lead): the name of the method is a symbol',
    ],
    ['no options', () => OnLeader(null as never)({}, 'lead', wrong), 'expected an object such as'],
    [
      'a name as options',
      () => OnLeader('orders' as never)({}, 'lead', wrong),
      'expected an object such as',
    ],
    [
      'an unknown option',
      () => LeaderOnly({ name: 'x' } as never)({}, 'lead', wrong),
      'unknown option "name", known: sharding',
    ],
    [
      'an empty name',
      () => OnLeader({ sharding: '' })({}, 'lead', wrong),
      'sharding is the name of a registration',
    ],
    [
      'no concurrency',
      () => PerShard({ concurrency: 0 })({}, 'work', wrong),
      '@PerShard on Object@work: concurrency is 0: expected a whole number from 1',
    ],
    ['half of it', () => PerShard({ concurrency: 1.5 })({}, 'work', wrong), 'concurrency is 1.5'],
  ])('refuse %s where no compiler looks', (_, decorate, problem) => {
    expect(decorate).toThrow(TypeError);
    expect(decorate).toThrow(problem);
  });

  it('leave a guarded method its name, its length and what other libraries wrote on it', () => {
    class Guarded {
      @SetMetadata('outer', 1)
      @LeaderOnly()
      @PerShard()
      @SetMetadata('inner', 2)
      async work(_shard: Shard): Promise<void> {}
    }
    const work: object & { name: string; length: number } = Reflect.get(Guarded.prototype, 'work');
    expect([work.name, work.length]).toEqual(['work', 1]);
    expect(Reflect.getMetadata('outer', work)).toBe(1);
    expect(Reflect.getMetadata('inner', work)).toBe(2);
  });
});
