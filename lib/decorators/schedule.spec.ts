import { describe, expect, it } from '@jest/globals';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fakedApp } from '../../test/kit/sharding-app.js';
import { eventually } from '../../test/kit/eventually.js';
import type { Shard } from '../interfaces/sharding-values.interface.js';
import { ShardingModule } from '../sharding.module.js';
import { LeaderOnly, PerShard } from './index.js';

/** Never due by itself: the test makes it tick. */
const YEARLY = '0 0 0 1 1 *';

class Jobs {
  readonly ran: string[] = [];

  @Cron(YEARLY, { name: 'cron outside' })
  @LeaderOnly()
  cronOutside(): void {
    this.ran.push('cron outside');
  }

  @LeaderOnly()
  @Cron(YEARLY, { name: 'cron inside' })
  async cronInside(): Promise<void> {
    this.ran.push('cron inside');
  }

  @PerShard()
  @Cron(YEARLY, { name: 'shards outside' })
  shardsOutside(shard: Shard): void {
    this.ran.push(`shards outside ${shard.item}`);
  }

  @Cron(YEARLY, { name: 'shards inside' })
  @PerShard({ concurrency: 1 })
  async shardsInside(shard: Shard): Promise<void> {
    this.ran.push(`shards inside ${shard.item}`);
  }

  @Interval('interval', 5)
  @LeaderOnly()
  interval(): void {
    if (!this.ran.includes('interval')) this.ran.push('interval');
  }

  @LeaderOnly()
  @Timeout('timeout', 1)
  timeout(): void {
    this.ran.push('timeout');
  }
}

const names = ['cron outside', 'cron inside', 'shards outside', 'shards inside'];
const sharding = () => ShardingModule.forRoot({ registry: { type: 'memory' }, total: 8 });
const schedule = () => ScheduleModule.forRoot();

describe.each([
  ['before', () => [schedule(), sharding()]],
  ['after', () => [sharding(), schedule()]],
])('scheduled methods, with @nestjs/schedule imported %s', (_, imports) => {
  async function jobs() {
    const { app, fakes, logs } = await fakedApp({ imports: imports(), providers: [Jobs] });
    await app.init();
    const registry = app.get(SchedulerRegistry);
    const tick = async () => {
      for (const name of names) void registry.getCronJob(name).fireOnTick();
      await nextTurn();
    };
    const { ran } = app.get(Jobs);
    return { app, coordinator: fakes.only, logs, ran, tick };
  }

  it('do nothing before readiness', async () => {
    const { app, logs, ran, tick } = await jobs();
    await tick();
    expect(ran).toEqual([]);
    expect(logs.lines).toEqual([]);
    await app.close();
  });

  it('run on the leader, and once per held shard', async () => {
    const { app, coordinator, ran, tick } = await jobs();
    coordinator.lead();
    coordinator.hold(3);
    coordinator.hold(5);
    await tick();
    expect(ran.filter((job) => !job.startsWith('interval') && job !== 'timeout')).toEqual([
      'cron outside',
      'cron inside',
      'shards outside 3',
      'shards outside 5',
      'shards inside 3',
      'shards inside 5',
    ]);
    await eventually(() => ran.includes('interval'), { label: 'the interval' });
    await app.close();
  });
});
