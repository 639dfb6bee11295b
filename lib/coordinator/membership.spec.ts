import { beforeEach, describe, expect, it } from '@jest/globals';
import { coordinatorOptions } from '../../test/kit/coordinators.js';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { DuplicateInstanceError } from './coordinator.errors.js';
import { Keyspace } from './keyspace.js';
import { decodeMember, type MemberRecord } from './member-record.js';
import { Membership } from './membership.js';

const PATH = '/group/instances/a';

let world: MemoryWorld;
let client: WorldClient;
let ended: AbortController;
let membership: Membership;

function membershipOf({ registry, environment, session }: WorldClient, signal = ended.signal) {
  return new Membership(
    registry,
    environment,
    new Keyspace('group'),
    coordinatorOptions(),
    session,
    { lease: 5_000, surrendered: 0, leaving: false },
    signal,
  );
}

async function stored(): Promise<MemberRecord | undefined> {
  const data = await world.read(PATH);
  return data === undefined ? undefined : decodeMember('a', Buffer.from(data));
}

/** What a promise came to, without waiting for it. */
function watch(promise: Promise<unknown>): { state: string; error?: unknown } {
  const outcome: { state: string; error?: unknown } = { state: 'pending' };
  promise.then(
    () => (outcome.state = 'done'),
    (error: unknown) => {
      outcome.state = 'failed';
      outcome.error = error;
    },
  );
  return outcome;
}

beforeEach(async () => {
  world = new MemoryWorld();
  client = await world.client('a');
  ended = new AbortController();
  membership = membershipOf(client);
});

describe('registering', () => {
  it('makes an ephemeral node of our session that says who we are', async () => {
    await membership.register(1_000);
    expect(await stored()).toEqual(membership.record);
    const stat = await (await world.operator()).exists(PATH);
    expect(stat?.owner).toBe(client.session);
    expect(membership.record).toMatchObject({ lease: 5_000, drainTimeout: 1_000, acked: 0 });
  });

  it('draws another incarnation for each registration', () => {
    const again = membershipOf(client);
    expect(again.incarnation).not.toBe(membership.incarnation);
    expect(again.incarnation).toMatch(/^[0-9a-f]{16}$/);
  });

  it('finds its own node when the answer was lost', async () => {
    client.registry.link.loseNextAnswer();
    await membership.register(1_000);
    expect(await stored()).toEqual(membership.record);
    expect(client.logged).toEqual([]);
  });

  it('tries again when the request was lost', async () => {
    client.registry.link.loseNextRequest();
    await membership.register(1_000);
    expect(await stored()).toEqual(membership.record);
  });

  it('replaces an earlier registration of the same session', async () => {
    await membership.register(1_000);
    const again = membershipOf(client);
    await again.register(1_000);
    expect((await stored())?.incarnation).toBe(again.incarnation);
  });

  it('fails with the session', async () => {
    client.registry.link.expire();
    await world.time.settle();
    const outcome = watch(membership.register(1_000));
    await world.time.settle();
    expect(registryErrorCode(outcome.error)).toBe('SESSION_LOST');
    expect(await stored()).toBeUndefined();
  });
});

describe('an id that another live session has', () => {
  let other: WorldClient;
  let theirs: Membership;

  beforeEach(async () => {
    other = await world.client('other');
    theirs = membershipOf(other);
    await theirs.register(1_000);
  });

  it('is waited for, without touching the other’s node', async () => {
    const outcome = watch(membership.register(30_000));
    await world.time.advance(29_999);
    expect(outcome.state).toBe('pending');
    expect(await stored()).toEqual(theirs.record);
    expect(client.logged).toEqual([
      `warn Another live session is registered as ${PATH}; waiting for it to end`,
    ]);
    expect(client.requests.filter((request) => /^(set|delete)/.test(request))).toEqual([]);
  });

  it('is an error after the bound, that names id, node and remedy', async () => {
    const outcome = watch(membership.register(30_000));
    await world.time.advance(30_000);
    expect(outcome.state).toBe('failed');
    expect(outcome.error).toBeInstanceOf(DuplicateInstanceError);
    expect((outcome.error as Error).message).toBe(
      'The instance id "a" is used by another live instance: /group/instances/a still belongs to ' +
        'another session after 30000 ms. Give each instance its own instance.id, or leave it out',
    );
    expect(await stored()).toEqual(theirs.record);
  });

  it('is taken as soon as the other is gone', async () => {
    const outcome = watch(membership.register(30_000));
    await world.time.advance(5_000);
    other.registry.link.expire();
    await world.time.settle();
    expect(outcome.state).toBe('done');
    expect(await stored()).toEqual(membership.record);
  });

  it('is waited for without end where that is wanted', async () => {
    const outcome = watch(membership.register(Infinity));
    await world.time.advance(100_000_000);
    expect(outcome.state).toBe('pending');
    await other.registry.close();
    await world.time.settle();
    expect(outcome.state).toBe('done');
  });

  it('is no duplicate if it is we who end meanwhile', async () => {
    const outcome = watch(membership.register(30_000));
    await world.time.advance(5_000);
    ended.abort();
    await world.time.settle();
    expect(outcome.state).toBe('failed');
    expect(registryErrorCode(outcome.error)).toBe('ABORTED');
  });

  it('is not written by promises made while waiting; they are kept for later', async () => {
    const outcome = watch(membership.register(30_000));
    await world.time.settle();
    const promised = watch(membership.promise({ leaving: true, acked: 5 }));
    await world.time.settle();
    expect(promised.state).toBe('done');
    expect(await stored()).toEqual(theirs.record);
    await other.registry.close();
    await world.time.settle();
    expect(outcome.state).toBe('done');
    expect(await stored()).toMatchObject({
      incarnation: membership.incarnation,
      leaving: true,
      acked: 5,
    });
  });
});

describe('promising', () => {
  beforeEach(() => membership.register(1_000));

  it('resolves when the store has it', async () => {
    const outcome = watch(membership.promise({ acked: 7 }));
    expect(membership.record.acked).toBe(7);
    expect(outcome.state).toBe('pending');
    await world.time.settle();
    expect(outcome.state).toBe('done');
    expect((await stored())?.acked).toBe(7);
  });

  it('never lowers a number', async () => {
    await membership.promise({ acked: 7, surrendered: 6 });
    await membership.promise({ acked: 3, surrendered: 2, leaving: true });
    expect(await stored()).toMatchObject({ acked: 7, surrendered: 6, leaving: true });
    await membership.promise({ leaving: false });
    expect(await stored()).toMatchObject({ acked: 7, surrendered: 6, leaving: false });
  });

  it('costs no write where nothing is new', async () => {
    await membership.promise({ acked: 7 });
    const before = client.requests.length;
    await membership.promise({ acked: 7 });
    await membership.promise({ acked: 6 });
    await membership.promise({});
    expect(client.requests).toHaveLength(before);
  });

  it('joins what is promised during a write', async () => {
    const before = client.requests.length;
    const all = Promise.all([1, 2, 3, 4, 5].map((acked) => membership.promise({ acked })));
    await world.time.settle();
    await all;
    expect((await stored())?.acked).toBe(5);
    expect(client.requests).toHaveLength(before + 2);
  });

  it('forgets nothing, at whatever moment of a write it is made', async () => {
    for (let delay = 0; delay < 40; delay++) {
      const [first, second] = [1_000 + delay * 10, 1_000 + delay * 10 + 1];
      const before = membership.promise({ acked: first });
      for (let turn = 0; turn < delay; turn++) await Promise.resolve();
      const after = membership.promise({ acked: second });
      await world.time.settle();
      await Promise.all([before, after]);
      expect((await stored())?.acked).toBe(second);
    }
  });

  it('survives lost answers and lost requests', async () => {
    client.registry.link.loseNextAnswer();
    await membership.promise({ acked: 7 });
    expect((await stored())?.acked).toBe(7);
    client.registry.link.loseNextRequest();
    await membership.promise({ surrendered: 7 });
    expect(await stored()).toMatchObject({ acked: 7, surrendered: 7 });
    await membership.promise({ acked: 8 });
    expect((await stored())?.acked).toBe(8);
  });

  it('waits for the connection', async () => {
    client.registry.link.cut();
    await world.time.settle();
    const outcome = watch(membership.promise({ acked: 7 }));
    await world.time.advance(1_000);
    expect(outcome.state).toBe('pending');
    client.registry.link.heal();
    await world.time.settle();
    expect(outcome.state).toBe('done');
  });

  it('goes on over what an operator wrote into our node', async () => {
    await world.put(PATH, 'garbage');
    await membership.promise({ acked: 7 });
    expect(await stored()).toEqual(membership.record);
  });

  it('fails if the node is gone, and does not make it again', async () => {
    await world.remove(PATH);
    const outcome = watch(membership.promise({ acked: 7 }));
    await world.time.settle();
    expect(registryErrorCode(outcome.error)).toBe('NO_NODE');
    expect(await world.read(PATH)).toBeUndefined();
  });

  it('never writes the node of another session that has the id by now', async () => {
    await membership.promise({ acked: 1 });
    await world.remove(PATH);
    const other = await world.client('other');
    const theirs = membershipOf(other);
    await theirs.register(1_000);
    const outcome = watch(membership.promise({ acked: 7 }));
    await world.time.settle();
    expect(registryErrorCode(outcome.error)).toBe('NO_NODE');
    expect(await stored()).toEqual(theirs.record);
  });

  it('fails with the session', async () => {
    client.registry.link.expire();
    const outcome = watch(membership.promise({ acked: 7 }));
    await world.time.settle();
    expect(registryErrorCode(outcome.error)).toBe('SESSION_LOST');
  });
});

describe('the look at our own registration', () => {
  const look = (): Promise<boolean> => membership.isRegistered({ session: client.session });
  beforeEach(() => membership.register(1_000));

  it('finds it', async () => {
    expect(await look()).toBe(true);
    await membership.promise({ acked: 7 });
    expect(await look()).toBe(true);
  });

  it('misses a node that was deleted', async () => {
    await world.remove(PATH);
    expect(await look()).toBe(false);
  });

  it('does not take garbage for it', async () => {
    await world.put(PATH, 'garbage');
    expect(await look()).toBe(false);
  });

  it('does not take another incarnation for it', async () => {
    const data = JSON.stringify({
      ...(JSON.parse((await world.read(PATH))!) as object),
      incarnation: 'x',
    });
    await world.put(PATH, data);
    expect(await look()).toBe(false);
  });

  it('does not take a copy in another session for it', async () => {
    const data = (await world.read(PATH))!;
    await world.remove(PATH);
    await world.put(PATH, data, 'ephemeral');
    expect(await look()).toBe(false);
  });
});

describe('unregistering', () => {
  beforeEach(() => membership.register(1_000));

  it('deletes our node', async () => {
    await membership.promise({ acked: 7 });
    await membership.unregister(1_000);
    expect(await world.read(PATH)).toBeUndefined();
  });

  it('is done already if the node is gone', async () => {
    await world.remove(PATH);
    await membership.unregister(1_000);
  });

  it('leaves the node of another registration alone', async () => {
    await world.remove(PATH);
    const theirs = membershipOf(await world.client('other'));
    await theirs.register(1_000);
    await membership.unregister(1_000);
    expect(await stored()).toEqual(theirs.record);
  });

  it('survives a lost request', async () => {
    client.registry.link.loseNextRequest();
    await membership.unregister(5_000);
    expect(await world.read(PATH)).toBeUndefined();
  });

  it('does nothing before the registration', async () => {
    const before = client.requests.length;
    await membershipOf(client).unregister(1_000);
    expect(client.requests).toHaveLength(before);
  });
});
