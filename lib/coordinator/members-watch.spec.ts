import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { member } from '../../test/kit/plans.js';
import { Keyspace } from './keyspace.js';
import { encodeMember, type MemberRecord } from './member-record.js';
import { MembersWatch } from './members-watch.js';

const keyspace = new Keyspace('group');

let world: MemoryWorld;
let client: WorldClient;
let changes: number;
let watch: MembersWatch;

function encode(record: MemberRecord): string {
  return encodeMember(record, { ...record, ip: '10.0.0.1', pid: 1 }).toString();
}

async function register(record: MemberRecord): Promise<void> {
  await world.put(keyspace.instance(record.id), encode(record));
  await world.time.settle();
}

const remove = async (id: string): Promise<void> => {
  await world.remove(keyspace.instance(id));
  await world.time.settle();
};

const incarnations = (): string[] => watch.records.map(({ incarnation }) => incarnation).toSorted();

beforeEach(async () => {
  world = new MemoryWorld();
  client = await world.client();
  changes = 0;
});

async function open(): Promise<void> {
  watch = new MembersWatch(client.registry, keyspace, () => (changes += 1));
  await world.time.settle();
}

describe('MembersWatch', () => {
  it('is complete, and empty, where nobody ever registered', async () => {
    await open();
    expect(watch.isComplete).toBe(true);
    expect(watch.records).toEqual([]);
    expect(changes).toBeGreaterThan(0);
  });

  it('is complete only when everybody has been read', async () => {
    await register(member('a1'));
    await register(member('b1'));
    watch = new MembersWatch(client.registry, keyspace, () => {
      if (watch.isComplete) expect(incarnations()).toEqual(['a1', 'b1']);
    });
    expect(watch.isComplete).toBe(false);
    await world.time.settle();
    expect(watch.isComplete).toBe(true);
    expect(incarnations()).toEqual(['a1', 'b1']);
  });

  it('is complete as well where somebody else has a view of the same node open', async () => {
    await register(member('a1'));
    const other = client.registry.watch(keyspace.instance('a')).subscribe();
    const list = client.registry.watchChildren(keyspace.instances).subscribe();
    await world.time.settle();
    await open();
    expect(watch.isComplete).toBe(true);
    expect(incarnations()).toEqual(['a1']);
    other.unsubscribe();
    list.unsubscribe();
  });

  it('tells of joins, changes and departures', async () => {
    await open();
    let before = changes;
    await register(member('a1'));
    expect(changes).toBeGreaterThan(before);
    expect(incarnations()).toEqual(['a1']);
    before = changes;
    await register(member('a1', { acked: 5 }));
    expect(changes).toBeGreaterThan(before);
    expect(watch.records[0]?.acked).toBe(5);
    before = changes;
    await remove('a');
    expect(changes).toBeGreaterThan(before);
    expect(watch.records).toEqual([]);
  });

  it('knows the version of each node', async () => {
    await register(member('a1'));
    await open();
    expect(watch.versionOf('a')).toBe(0);
    await register(member('a1', { acked: 5 }));
    expect(watch.versionOf('a')).toBe(1);
    expect(watch.versionOf('b')).toBeUndefined();
  });

  it('counts whoever cannot be read as absent, but does not wait for it', async () => {
    await world.put(keyspace.instance('a'), 'garbage');
    await register(member('b1'));
    await open();
    expect(watch.isComplete).toBe(true);
    expect(incarnations()).toEqual(['b1']);
  });

  describe('last words', () => {
    const words = (): Record<string, number> =>
      Object.fromEntries([...watch.lastWords].map(([name, { acked }]) => [name, acked]));

    beforeEach(open);

    it('of whoever went', async () => {
      await register(member('a1', { acked: 3 }));
      await register(member('a1', { acked: 5 }));
      expect(words()).toEqual({});
      await remove('a');
      expect(words()).toEqual({ a1: 5 });
    });

    it('of the former life of somebody who is back', async () => {
      await register(member('a1', { acked: 5 }));
      await register(member('a2', { acked: 1 }));
      expect(words()).toEqual({ a1: 5 });
      expect(incarnations()).toEqual(['a2']);
    });

    it('of the former life of somebody who came back too quickly to be missed', async () => {
      await register(member('a1', { acked: 5 }));
      client.registry.link.freeze();
      await world.remove(keyspace.instance('a'));
      await world.put(keyspace.instance('a'), encode(member('a2')));
      client.registry.link.thaw();
      await world.time.settle();
      expect(words()).toEqual({ a1: 5 });
      expect(incarnations()).toEqual(['a2']);
    });

    it('of whoever became unreadable', async () => {
      await register(member('a1', { acked: 5 }));
      await world.put(keyspace.instance('a'), 'garbage');
      await world.time.settle();
      expect(words()).toEqual({ a1: 5 });
      expect(watch.records).toEqual([]);
    });

    it('are forgotten where nobody asks about them', async () => {
      await register(member('a1'));
      await register(member('b1'));
      await remove('a');
      await remove('b');
      watch.forgetExcept(new Set(['b1']));
      expect(words()).toEqual({ b1: 0 });
    });
  });

  it('catches up after a broken connection', async () => {
    await register(member('a1'));
    await register(member('b1'));
    await open();
    client.registry.link.cut();
    await world.time.settle();
    await remove('a');
    await register(member('b1', { acked: 9 }));
    await register(member('c1'));
    client.registry.link.heal();
    await world.time.settle();
    expect(incarnations()).toEqual(['b1', 'c1']);
    expect(watch.records.find(({ id }) => id === 'b')?.acked).toBe(9);
    expect([...watch.lastWords.keys()]).toEqual(['a1']);
  });

  it('ends with its close', async () => {
    await register(member('a1'));
    await open();
    watch.close();
    const before = changes;
    await register(member('b1'));
    await remove('a');
    expect(changes).toBe(before);
    expect(client.registry.viewCount).toBe(0);
  });
});
