import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deferred, type Deferred } from '../test/kit/eventually.js';
import { fakedApp } from '../test/kit/sharding-app.js';
import { LeaderOnly, PerShard } from './decorators/index.js';
import type { Shard } from './interfaces/sharding-values.interface.js';
import { NotGuardedError } from './sharding.errors.js';
import { ShardingModule } from './sharding.module.js';

const sharding = ShardingModule.forRoot({ registry: { type: 'memory' }, total: 8 });

class Reports {
  readonly sent: string[] = [];
  job: Promise<void> | undefined;

  @LeaderOnly()
  send(subject: string): void {
    this.sent.push(subject);
  }

  @LeaderOnly()
  async build(): Promise<void> {
    this.sent.push('built');
    await this.job;
  }
}

class Queues {
  readonly worked: Shard[] = [];
  readonly jobs = new Map<number, Deferred<void>>();

  @PerShard()
  async work(shard?: Shard): Promise<void> {
    this.worked.push(shard!);
    await this.jobs.get(shard!.item)?.promise;
  }

  get items(): readonly number[] {
    return this.worked.map(({ item }) => item);
  }
}

describe('@LeaderOnly', () => {
  it('guards a method that is called by the one that overrides it', async () => {
    class Base {
      readonly sent: string[] = [];

      @LeaderOnly()
      send(subject: string): void {
        this.sent.push(subject);
      }
    }
    class Heir extends Base {
      override send(subject: string): void {
        super.send(`heir: ${subject}`);
      }
    }
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Heir] });
    await app.init();
    fakes.only.lead();
    app.get(Heir).send('now');
    expect(app.get(Heir).sent).toEqual(['heir: now']);
    await app.close();
  });

  async function reports() {
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Reports] });
    await app.init();
    return { app, leader: fakes.only, reports: app.get(Reports) };
  }

  it('runs on the leader with its arguments and does nothing elsewhere', async () => {
    const { app, leader, reports: desk } = await reports();
    desk.send('too early');
    const nothing = desk.build();
    expect(nothing).toBeInstanceOf(Promise);
    expect(await nothing).toBeUndefined();
    leader.lead();
    desk.send('now');
    await leader.resign();
    desk.send('too late');
    expect(desk.sent).toEqual(['now']);
    await app.close();
  });

  it('keeps the leadership until the calls under way have ended', async () => {
    const { app, leader, reports: desk } = await reports();
    const job = deferred();
    desk.job = job.promise;
    leader.lead();
    const built = desk.build();
    let resigned = false;
    const resigning = leader.resign().then(() => (resigned = true));
    await nextTurn();
    expect(resigned).toBe(false);
    job.resolve();
    await Promise.all([built, resigning]);
    await app.close();
  });

  it('passes a failure on to the caller, and resigns all the same', async () => {
    const { app, leader, reports: desk } = await reports();
    desk.job = Promise.reject(new Error('printer on fire'));
    leader.lead();
    const built = desk.build();
    await leader.resign();
    await expect(built).rejects.toThrow('printer on fire');
    await app.close();
  });
});

describe('@PerShard', () => {
  async function queues(...items: number[]) {
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Queues] });
    await app.init();
    for (const item of items) fakes.only.hold(item);
    return { app, holder: fakes.only, queues: app.get(Queues) };
  }

  it('runs once for each shard that is held, with the shard', async () => {
    const { app, holder, queues: line } = await queues(2, 5);
    await line.work();
    expect(line.worked).toEqual([holder.shard(2), holder.shard(5)]);
    await app.close();
  });

  it('does nothing while nothing is held', async () => {
    const { app, queues: line } = await queues();
    await line.work();
    expect(line.worked).toEqual([]);
    await app.close();
  });

  it('works as many at a time as it was told', async () => {
    class Pool {
      busy = 0;
      most = 0;

      @PerShard({ concurrency: 3 })
      async work(_shard?: Shard): Promise<void> {
        this.busy += 1;
        this.most = Math.max(this.most, this.busy);
        await nextTurn();
        this.busy -= 1;
      }
    }
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Pool] });
    await app.init();
    for (let item = 0; item < 8; item += 1) fakes.only.hold(item);
    await app.get(Pool).work();
    expect(app.get(Pool)).toMatchObject({ busy: 0, most: 3 });
    await app.close();
  });

  it('leaves out a shard that was lost before its turn', async () => {
    class Slow {
      readonly items: number[] = [];
      readonly first = deferred();

      @PerShard({ concurrency: 1 })
      async work(shard?: Shard): Promise<void> {
        this.items.push(shard!.item);
        if (shard!.item === 1) await this.first.promise;
      }
    }
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Slow] });
    await app.init();
    for (const item of [1, 2, 3]) fakes.only.hold(item);
    const slow = app.get(Slow);
    const round = slow.work();
    await fakes.only.release(2);
    slow.first.resolve();
    await round;
    expect(slow.items).toEqual([1, 3]);
    await app.close();
  });

  it('keeps a shard until the calls under way have ended, and only that one', async () => {
    const { app, holder, queues: line } = await queues(1, 2);
    const job = deferred();
    line.jobs.set(1, job);
    const round = line.work();
    await nextTurn();
    await holder.release(2);
    let released = false;
    const releasing = holder.release(1).then(() => (released = true));
    await nextTurn();
    expect(released).toBe(false);
    job.resolve();
    await Promise.all([round, releasing]);
    await app.close();
  });

  it('passes one failure on as it is, when all have ended', async () => {
    const { app, queues: line } = await queues(1, 2, 3);
    const [first, last] = [deferred(), deferred()];
    line.jobs.set(1, first).set(3, last);
    const failure = new Error('bad row');
    let ended = false;
    const round = line.work().finally(() => (ended = true));
    first.reject(failure);
    await nextTurn();
    expect(ended).toBe(false);
    last.resolve();
    await expect(round).rejects.toBe(failure);
    expect(line.items).toEqual([1, 2, 3]);
    await app.close();
  });

  it('passes several failures on together, with their stacks', async () => {
    class Broken {
      @PerShard()
      work(shard?: Shard): void {
        throw new Error(`bad row in ${shard!.item}`);
      }
    }
    const { app, fakes } = await fakedApp({ imports: [sharding], providers: [Broken] });
    await app.init();
    fakes.only.hold(4);
    fakes.only.hold(6);
    const failure = (await Promise.resolve(app.get(Broken).work()).catch(
      (error: unknown) => error,
    )) as AggregateError;
    expect(failure.message).toBe(
      'Broken@work failed for 2 shards\nshard 4: bad row in 4\nshard 6: bad row in 6',
    );
    expect(failure.errors).toHaveLength(2);
    expect(failure.stack?.match(/sharding\.gate\.spec/g)?.length).toBeGreaterThanOrEqual(2);
    await app.close();
  });
});

describe('a guarded method on an instance that the module never saw', () => {
  const missing =
    'was called on an instance that the ShardingModule does not know. Import ShardingModule.forRoot()';

  it('throws and names the missing import', () => {
    expect(() => new Reports().send('x')).toThrow(NotGuardedError);
    expect(() => new Reports().send('x')).toThrow(`@LeaderOnly on Reports@send ${missing}`);
    expect(() => new Queues().work()).toThrow(`@PerShard on Queues@work ${missing}`);
  });

  it('throws without an instance, too', () => {
    const send: (subject: string) => void = Reflect.get(new Reports(), 'send');
    expect(() => send('x')).toThrow(`@LeaderOnly on Reports@send ${missing}`);
  });
});
