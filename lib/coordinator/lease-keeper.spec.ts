import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { Lease } from './lease.js';
import { encodeLease, LeaseKeeper, mayHold } from './lease-keeper.js';

const D = 4_000;
const PATH = '/group/leases/a';

class Fixture {
  readonly world = new MemoryWorld();
  readonly heard: string[] = [];
  isRegistered = true;
  isLatched = true;
  client!: WorldClient;
  lease!: Lease;
  keeper!: LeaseKeeper;

  async open(): Promise<this> {
    this.client = await this.world.client('a');
    const { registry, environment, session } = this.client;
    this.lease = new Lease(environment.clock, D, () => registry.session.timed);
    this.keeper = new LeaseKeeper(registry, environment, this.lease, {
      leasePath: PATH,
      session,
      // A real request each, as in use, so that the looks are answered behind the write.
      isRegistered: async (options) => {
        await registry.exists('/registered', options);
        return this.isRegistered;
      },
      isLatched: async (options) => {
        await registry.exists('/latched', options);
        return this.isLatched;
      },
      onRenewed: () => this.heard.push('renewed'),
      onLapsed: () => this.heard.push('lapsed'),
      onEvicted: () => this.heard.push('evicted'),
      onUnlatched: () => this.heard.push('unlatched'),
    });
    return this;
  }

  get writes(): string[] {
    return this.client.requests.filter((request) => request.endsWith(PATH));
  }

  async flag(): Promise<boolean | undefined> {
    const data = await this.world.read(PATH);
    return data === undefined ? undefined : (JSON.parse(data) as { mayHold: boolean }).mayHold;
  }
}

let f: Fixture;
beforeEach(async () => {
  f = await new Fixture().open();
});

describe('LeaseKeeper', () => {
  it('writes nothing while the lease is not needed', async () => {
    await f.world.time.advance(60_000);
    expect(f.client.requests).toEqual([]);
    expect(f.keeper.mayHold).toBe(false);
  });

  it('renews at once, then every quarter of the duration', async () => {
    f.keeper.need = 'holding';
    expect(f.keeper.mayHold).toBe(false);
    await f.world.time.settle();
    expect(f.keeper.mayHold).toBe(true);
    expect(f.writes).toEqual([`create ${PATH}`]);
    await f.world.time.advance(D / 4 - 1);
    expect(f.writes).toHaveLength(1);
    await f.world.time.advance(1);
    expect(f.writes).toEqual([`create ${PATH}`, `set ${PATH}`]);
    await f.world.time.advance(8 * D);
    expect(f.writes).toHaveLength(2 + 32);
    expect(new Set(f.heard)).toEqual(new Set(['renewed']));
    expect(f.keeper.mayHold).toBe(true);
  });

  it('looks at the registration and the latch behind each write', async () => {
    f.keeper.need = 'holding';
    await f.world.time.advance(D / 4);
    expect(f.client.requests).toEqual([
      `create ${PATH}`,
      'exists /registered',
      'exists /latched',
      `set ${PATH}`,
      'exists /registered',
      'exists /latched',
    ]);
  });

  it('has one renewal under way at a time, and keeps to the rhythm of the sendings', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.client.registry.link.delay(600);
    await f.world.time.advance(10 * D);
    // Each takes 600 ms and the next is sent 1,000 ms after the former was.
    expect(f.writes).toHaveLength(1 + 40);
    expect(f.heard).not.toContain('lapsed');
    f.client.registry.link.delay(1_500);
    const before = f.writes.length;
    await f.world.time.advance(15_000);
    expect(f.writes.length - before).toBeLessThanOrEqual(10);
    expect(f.keeper.mayHold).toBe(true);
  });

  it('keeps the rights of the last committed renewal while an answer is awaited, and no longer', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.client.registry.link.freeze();
    await f.world.time.advance(D - 1);
    expect(f.keeper.mayHold).toBe(true);
    await f.world.time.advance(1);
    expect(f.keeper.mayHold).toBe(false);
    expect(f.heard.filter((word) => word === 'lapsed')).toHaveLength(1);
  });

  it('stays lapsed, whatever is answered later, until told that all was given up', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.client.registry.link.freeze();
    await f.world.time.advance(D);
    f.client.registry.link.thaw();
    await f.world.time.advance(2 * D);
    expect(f.heard.at(-1)).toBe('lapsed');
    expect(f.keeper.mayHold).toBe(false);
    f.keeper.restart();
    expect(f.keeper.mayHold).toBe(false);
    await f.world.time.settle();
    expect(f.keeper.mayHold).toBe(true);
    await f.world.time.advance(4 * D);
    expect(f.keeper.mayHold).toBe(true);
    expect(f.heard.filter((word) => word === 'lapsed')).toHaveLength(1);
  });

  it('is not stuck when the very first answer comes after the whole duration', async () => {
    f.client.registry.link.delay(D + 500);
    // Servers that are slow and cannot be changed for others.
    f.client.registry.reconnect = () => {};
    f.keeper.need = 'holding';
    await f.world.time.advance(D + 500);
    expect(f.keeper.mayHold).toBe(false);
    expect(f.heard).not.toContain('lapsed');
    f.client.registry.link.delay(0);
    await f.world.time.advance(2 * D);
    expect(f.keeper.mayHold).toBe(true);
  });

  it('tries another server when a renewal is unanswered for half the duration, and renews there in time', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    const { registry } = f.client;
    let reconnected: number | undefined;
    const reconnect = registry.reconnect.bind(registry);
    registry.reconnect = () => {
      reconnected = f.world.time.now;
      registry.link.thaw();
      reconnect();
    };
    registry.link.freeze('down');
    await f.world.time.advance(D);
    expect(reconnected).toBe(D / 4 + D / 2);
    expect(f.heard).not.toContain('lapsed');
    await f.world.time.advance(D);
    expect(f.keeper.mayHold).toBe(true);
  });

  it('survives a lost answer', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.client.registry.link.loseNextAnswer();
    await f.world.time.advance(3 * D);
    expect(f.heard).not.toContain('lapsed');
    expect(f.keeper.mayHold).toBe(true);
  });

  it('survives a lost answer to the creation of its node', async () => {
    f.client.registry.link.loseNextAnswer();
    f.keeper.need = 'holding';
    await f.world.time.advance(D);
    expect(f.keeper.mayHold).toBe(true);
  });

  it('makes its node again if somebody deleted it', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    await f.world.remove(PATH);
    await f.world.time.advance(D / 4);
    expect(await f.flag()).toBe(true);
    expect(f.keeper.mayHold).toBe(true);
  });

  it('tells that the registration is gone, and does not count that renewal', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.isRegistered = false;
    await f.world.time.advance(D / 4);
    expect(f.heard).toEqual(['renewed', 'evicted']);
    // Nobody looks any more, and the right ends with the last renewal that counted.
    f.keeper.close();
    await f.world.time.advance(D - D / 4);
    expect(f.lease.isValid).toBe(false);
  });

  it('tells that the latch is gone, and goes on for the shards', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.isLatched = false;
    await f.world.time.advance(D / 4);
    expect(f.heard).toEqual(['renewed', 'unlatched', 'renewed']);
    expect(f.keeper.mayHold).toBe(true);
  });

  describe('what it is needed for', () => {
    it('leading only: it runs, but nothing may be held, and its node says so', async () => {
      f.keeper.need = 'leading';
      await f.world.time.settle();
      expect(f.lease.isValid).toBe(true);
      expect(f.keeper.mayHold).toBe(false);
      expect(await f.flag()).toBe(false);
    });

    it('holding as well: its node says so before anything may be held', async () => {
      f.keeper.need = 'leading';
      await f.world.time.settle();
      f.keeper.need = 'holding';
      expect(f.keeper.mayHold).toBe(false);
      await f.world.time.settle();
      expect(f.keeper.mayHold).toBe(true);
      expect(await f.flag()).toBe(true);
    });

    it('holding, asked for while a renewal for leading is under way', async () => {
      f.keeper.need = 'leading';
      f.keeper.need = 'holding';
      await f.world.time.settle();
      expect(f.keeper.mayHold).toBe(true);
      expect(await f.flag()).toBe(true);
      expect(f.writes).toHaveLength(2);
    });

    it('leading again: nothing may be held at once, and the node follows with the next renewal', async () => {
      f.keeper.need = 'holding';
      await f.world.time.settle();
      const before = f.writes.length;
      f.keeper.need = 'leading';
      expect(f.keeper.mayHold).toBe(false);
      expect(f.lease.isValid).toBe(true);
      await f.world.time.settle();
      expect(f.writes).toHaveLength(before);
      await f.world.time.advance(D / 4);
      expect(await f.flag()).toBe(false);
    });

    it('nothing: no writes, and it runs out without consequences', async () => {
      f.keeper.need = 'holding';
      await f.world.time.settle();
      f.keeper.need = 'nothing';
      const before = f.client.requests.length;
      await f.world.time.advance(10 * D);
      expect(f.client.requests).toHaveLength(before);
      expect(f.heard).toEqual(['renewed']);
      expect(f.keeper.mayHold).toBe(false);
      f.keeper.need = 'holding';
      await f.world.time.settle();
      expect(f.keeper.mayHold).toBe(true);
    });

    it('nothing, while an answer is under way: it does not count', async () => {
      f.keeper.need = 'holding';
      f.keeper.need = 'nothing';
      await f.world.time.settle();
      expect(f.lease.isValid).toBe(false);
      expect(f.heard).toEqual([]);
    });

    it('after it was closed: nothing at all', async () => {
      f.keeper.close();
      f.keeper.need = 'holding';
      await f.world.time.advance(D);
      expect(f.client.requests).toEqual([]);
    });
  });

  it('ends with its close: no writes, no news, nothing held', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.keeper.close();
    const before = f.client.requests.length;
    expect(f.keeper.mayHold).toBe(false);
    await f.world.time.advance(10 * D);
    expect(f.client.requests).toHaveLength(before);
    expect(f.heard).toEqual(['renewed']);
  });

  it('writes nothing in another session', async () => {
    f.keeper.need = 'holding';
    await f.world.time.settle();
    f.client.registry.link.expire();
    await f.world.time.advance(D);
    expect(f.client.registry.session.id).not.toBe(f.client.session);
    expect(await f.world.read(PATH)).toBeUndefined();
    expect(f.keeper.mayHold).toBe(false);
  });

  describe('a disclaimer', () => {
    it('says that nothing is held, at once', async () => {
      f.keeper.need = 'holding';
      await f.world.time.settle();
      const done = f.keeper.disclaim();
      expect(f.keeper.mayHold).toBe(false);
      await f.world.time.settle();
      await done;
      expect(await f.flag()).toBe(false);
    });

    it('is not lost with an answer or a connection: others wait for it', async () => {
      f.keeper.need = 'holding';
      await f.world.time.settle();
      f.keeper.need = 'nothing';
      f.client.registry.link.loseNextRequest();
      const done = f.keeper.disclaim();
      await f.world.time.settle();
      await done;
      expect(await f.flag()).toBe(false);
    });

    it('is not undone by a renewal under way that finds the node of an earlier registration', async () => {
      const data = encodeLease({ renewal: 1, mayHold: true });
      await f.client.registry.create(PATH, data, { mode: 'ephemeral', parents: true });
      f.keeper.need = 'holding';
      const disclaimed = f.keeper.disclaim();
      await f.world.time.settle();
      await disclaimed;
      expect(await f.flag()).toBe(false);
      expect(f.keeper.mayHold).toBe(false);
    });

    it('is not undone by a renewal under way that makes the node again', async () => {
      f.keeper.need = 'holding';
      await f.world.time.settle();
      await f.client.registry.delete(PATH, -1);
      f.client.registry.link.delay(100);
      await f.world.time.advance(D / 4);
      const disclaimed = f.keeper.disclaim();
      await f.world.time.advance(500);
      await disclaimed;
      expect(await f.flag()).toBe(false);
      expect(f.keeper.mayHold).toBe(false);
    });

    it('is fine where there is no node', async () => {
      await f.keeper.disclaim();
      expect(await f.flag()).toBeUndefined();
    });

    it('is taken back by a later need to hold', async () => {
      f.keeper.need = 'holding';
      await f.world.time.settle();
      f.client.registry.link.cut();
      await f.world.time.settle();
      const done = f.keeper.disclaim();
      f.keeper.need = 'holding';
      f.client.registry.link.heal();
      await f.world.time.advance(D);
      await done;
      expect(await f.flag()).toBe(true);
      expect(f.keeper.mayHold).toBe(true);
    });
  });
});

describe('a lease node', () => {
  it.each([
    ['true', encodeLease({ renewal: 1, mayHold: true }), true],
    ['false', encodeLease({ renewal: 1, mayHold: false }), false],
    ['nothing', Buffer.alloc(0), true],
    ['garbage', Buffer.from('{'), true],
    ['null', Buffer.from('null'), true],
    ['another document', Buffer.from('{"renewal":1}'), true],
    ['a flag that is none', Buffer.from('{"mayHold":"no"}'), true],
    ['an empty flag', Buffer.from('{"mayHold":null}'), true],
  ])('that says %s', (_, data, expected) => {
    expect(mayHold(data)).toBe(expected);
  });
});
