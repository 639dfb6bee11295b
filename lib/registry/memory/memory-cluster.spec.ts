import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { failure, failureCode, outcome, Recording } from '../../../test/conformance/recording.js';
import { RegistryWorld } from '../../../test/kit/registry-world.js';
import { ANY_VERSION, type NodeSnapshot, type Session } from '../registry.js';
import { type Commit, MemoryCluster, type MemoryRegistry } from './index.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const textOf = (snapshot: NodeSnapshot | undefined): string | undefined =>
  snapshot?.data.toString();
const statesOf = ({ values }: Recording<Session>): string[] => values.map(({ state }) => state);

describe('a memory cluster', () => {
  it('needs nothing but itself', async () => {
    const registry = new MemoryCluster().registry();
    await registry.connect();
    await registry.create('/a', bytes('x'));
    expect(textOf(await registry.get('/a'))).toBe('x');
    await registry.close();
  });

  it.each([0, -1, NaN, Infinity])('refuses the session timeout %p', (sessionTimeout) => {
    const refusal = expect.objectContaining({
      code: 'INVALID',
      message: expect.stringContaining(`sessionTimeout: ${sessionTimeout}`) as unknown,
    });
    expect(() => new MemoryCluster({ sessionTimeout })).toThrow(refusal);
    expect(() => new MemoryCluster().registry({ sessionTimeout })).toThrow(refusal);
  });

  it.each([0, -1, 1.5, NaN])('refuses %p servers', (servers) => {
    expect(() => new MemoryCluster({ servers })).toThrow(
      expect.objectContaining({ code: 'INVALID' }),
    );
  });

  it('sets no real timer on a virtual clock', async () => {
    const real = jest.spyOn(globalThis, 'setTimeout');
    const world = new RegistryWorld({ servers: 3, latency: () => 3 });
    world.cluster.servers[0]?.lag(50);
    const registry = await world.open();
    registry.link.freeze();
    await world.time.advance(700);
    registry.link.thaw();
    await world.run(registry.create('/a', bytes(''), { timeout: 10_000 }));
    registry.link.cut();
    await world.time.advance(5_000);
    registry.link.heal();
    await world.run(registry.connect());
    expect(real).not.toHaveBeenCalled();
    real.mockRestore();
  });

  it('leaves no timer behind when its clients are closed', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    await world.run(registry.create('/a', bytes(''), { mode: 'ephemeral' }));
    await world.run(registry.close());
    await world.time.settle();
    expect([world.time.pending, world.cluster.registries.size]).toEqual([0, 0]);
  });

  it('counts its nodes and commits and knows its clients by label', async () => {
    const world = new RegistryWorld();
    const registry = await world.open({ label: 'one' });
    await world.run(registry.create('/a/b', bytes(''), { parents: true }));
    expect([world.cluster.nodeCount, world.cluster.committedId]).toEqual([3, 2]);
    expect([...world.cluster.registries].map(({ label }) => label)).toEqual(['one']);
    await world.run(registry.delete('/a/b', 0));
    expect([world.cluster.nodeCount, world.cluster.committedId]).toEqual([2, 3]);
  });

  it('tells each commit in order, with who asked for it, before anybody else hears of it', async () => {
    const world = new RegistryWorld();
    const registry = await world.open({ label: 'one' });
    const commits: Commit[] = [];
    const answered: string[] = [];
    world.cluster.commits$.subscribe((commit) => {
      expect(answered).toHaveLength(commits.length);
      commits.push(commit);
    });
    const note = (): void => void answered.push('answered');
    await world.run(registry.create('/a', bytes('1'), { mode: 'ephemeral' }).then(note));
    await world.run(registry.set('/a', bytes('2'), 0).then(note));
    await world.run(outcome(registry.set('/a', bytes('3'), 0)));
    const { id } = registry.session;
    await world.run(registry.close());
    expect(commits).toEqual([
      {
        id: 1,
        by: 'one',
        change: { kind: 'create', path: '/a', data: bytes('1'), owner: id },
      },
      { id: 2, by: 'one', change: { kind: 'set', path: '/a', data: bytes('2') } },
      { id: 3, by: undefined, change: { kind: 'close-session', session: id } },
    ]);
  });

  it('gives creation ids that only grow, over all nodes', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    const ids: bigint[] = [];
    for (const path of ['/a', '/b', '/a/c']) {
      await world.run(registry.create(path, bytes('')));
      ids.push((await world.run(registry.get(path))).stat.createdId);
    }
    expect(ids).toEqual([1n, 2n, 3n]);
  });

  it('refuses to delete the root even when it is empty', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    expect(await world.run(failureCode(registry.delete('/', ANY_VERSION)))).toBe('INVALID');
    await world.run(registry.create('/a', bytes('')));
  });

  it('takes all servers for granted but needs one', async () => {
    const world = new RegistryWorld({ servers: 3 });
    const registry = await world.open();
    for (const server of world.cluster.servers) server.stop();
    await world.time.settle();
    expect(registry.session.state).toBe('suspended');
    world.cluster.servers[2]?.start();
    await world.time.settle();
    expect([registry.session.state, registry.link.server]).toEqual(['connected', 2]);
  });

  it('moves to another server on reconnect(), with the same session', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const registry = await world.open();
    const { id } = registry.session;
    const before = registry.link.server;
    registry.reconnect();
    await world.time.settle();
    expect(registry.session).toMatchObject({ state: 'connected', id });
    expect(registry.link.server).not.toBe(before);
  });

  it('drops the watches of a connection with it', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    const [server] = world.cluster.servers;
    const views = [
      new Recording(registry.watch('/a')),
      new Recording(registry.watchChildren('/')),
      new Recording(registry.watchChildren('/a')),
    ];
    await world.time.settle();
    // Both views of the absent node rely on the same watch.
    expect([server?.watchCount, registry.viewCount]).toEqual([2, 3]);
    registry.reconnect();
    await world.time.settle();
    expect([server?.watchCount, registry.viewCount]).toEqual([2, 3]);
    for (const view of views) view.stop();
    expect(registry.viewCount).toBe(0);
    registry.link.cut();
    await world.time.settle();
    expect(server?.watchCount).toBe(0);
  });
});

describe('a session in memory', () => {
  it('is not timed in plain use, and never ends by itself', async () => {
    const world = new RegistryWorld({ timed: false });
    const registry = await world.open();
    await world.run(registry.create('/e', bytes(''), { mode: 'ephemeral' }));
    const { id } = registry.session;
    await world.time.advance(1e9);
    expect(registry.session).toMatchObject({ state: 'connected', id, timed: false });
    expect(await world.run(registry.exists('/e'))).toMatchObject({ owner: id });
  });

  it('is timed from the first fault on, and says so', async () => {
    const faults: Record<string, (registry: MemoryRegistry) => void> = {
      cut: ({ link }) => link.cut(),
      freeze: ({ link }) => link.freeze('down'),
      delay: ({ link }) => link.delay(1),
      loseNextAnswer: ({ link }) => link.loseNextAnswer(),
      loseNextRequest: ({ link }) => link.loseNextRequest(),
    };
    for (const [name, disturb] of Object.entries(faults)) {
      const world = new RegistryWorld({ timed: false });
      const registry = await world.open();
      const other = await world.open();
      const sessions = new Recording(registry.session$);
      disturb(registry);
      await world.time.settle();
      expect([name, registry.session.timed, other.session.timed]).toEqual([name, true, false]);
      expect(sessions.values.map(({ timed }) => timed).slice(0, 2)).toEqual([false, true]);
    }
  });

  it('is timed from the start where the cluster is', async () => {
    expect(new MemoryCluster({ timed: true }).registry().session.timed).toBe(true);
  });

  it('cut off ends exactly after its timeout, and not if it is back before', async () => {
    const world = new RegistryWorld();
    const registry = await world.open({ sessionTimeout: 500 });
    const other = await world.open();
    await world.run(registry.create('/e', bytes(''), { mode: 'ephemeral' }));
    const view = new Recording(other.watch('/e'));
    registry.link.cut();
    await world.time.advance(499);
    registry.link.heal();
    await world.time.advance(10_000);
    expect(view.last).toBeDefined();
    registry.link.cut();
    await world.time.advance(499);
    expect(view.last).toBeDefined();
    await world.time.advance(1);
    expect(view.last).toBeUndefined();
    expect(registry.session.state).toBe('suspended');
  });

  it('does not end while no server is there to count, and has all of its time afterwards', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const registry = await world.open();
    const { id } = registry.session;
    registry.link.cut();
    await world.time.advance(999);
    for (const server of world.cluster.servers) server.stop();
    await world.time.advance(60_000);
    for (const server of world.cluster.servers) server.start();
    await world.time.advance(999);
    registry.link.heal();
    await world.time.settle();
    expect(registry.session).toMatchObject({ state: 'connected', id });
  });

  it('has its ephemeral nodes vanish in one commit', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    for (const path of ['/a', '/b', '/c']) {
      await world.run(registry.create(path, bytes(''), { mode: 'ephemeral' }));
    }
    const before = world.cluster.committedId;
    registry.link.expire();
    expect([world.cluster.committedId, world.cluster.nodeCount]).toEqual([before + 1, 1]);
  });

  it('that ended is known by the client as soon as a message gets through', async () => {
    const world = new RegistryWorld({ latency: () => 10 });
    const registry = await world.open();
    const states = new Recording(registry.session$);
    const first = registry.session.id;
    registry.link.expire();
    expect(statesOf(states)).toEqual(['connected']);
    await world.run(registry.connect());
    await world.time.runUntil(() => registry.session.id !== first);
    await world.run(registry.connect());
    expect(statesOf(states)).toEqual(['connected', 'suspended', 'lost', 'connecting', 'connected']);
  });

  it('made but not told of is told of as a new one later', async () => {
    const world = new RegistryWorld({ servers: 2, latency: () => 10 });
    const [first, second] = world.cluster.servers;
    const writer = await world.open();
    await world.run(writer.create('/a', bytes('0')));
    const registry = await world.open();
    const view = new Recording(registry.watch('/a'));
    await world.time.advance(100);
    registry.link.expire();
    // The new session is made on a server's side; cut before the client hears of it.
    await world.time.runUntil(() => registry.session.state === 'connecting');
    await world.time.advance(15);
    registry.link.cut();
    await world.time.advance(100);
    second!.lag(300);
    first!.lag(300);
    await world.run(writer.set('/a', bytes('1'), 0));
    registry.link.heal();
    await world.time.advance(1_000);
    expect(view.values.map(textOf)).toEqual(['0', '1']);
  });
});

describe('a link in memory', () => {
  it('that is cut breaks at once for both sides, and comes back when healed', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    const pending = failure(registry.get('/'));
    registry.link.cut();
    expect(await world.run(pending)).toMatchObject({ code: 'CONNECTION_LOST' });
    expect([registry.session.state, registry.link.server]).toEqual(['suspended', undefined]);
    await world.time.advance(500);
    expect(registry.session.state).toBe('suspended');
    registry.link.heal();
    await world.time.settle();
    expect(registry.session.state).toBe('connected');
  });

  it('frozen upwards keeps requests, and answers those of before', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    const before = registry.create('/a', bytes(''));
    await Promise.resolve();
    registry.link.freeze('up');
    const after = registry.create('/b', bytes(''));
    expect(await world.run(before, 0)).toBe('/a');
    await world.time.advance(100);
    expect(world.cluster.nodeCount).toBe(2);
    registry.link.thaw();
    expect(await world.run(after, 0)).toBe('/b');
  });

  it('frozen downwards lets requests take effect, and keeps the answers', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    registry.link.freeze('down');
    const write = registry.create('/a', bytes(''));
    await world.time.advance(100);
    expect(world.cluster.nodeCount).toBe(2);
    registry.link.thaw();
    expect(await world.run(write, 0)).toBe('/a');
  });

  it('frozen downwards keeps the session alive, frozen upwards lets it end', async () => {
    for (const [direction, survives] of [
      ['down', true],
      ['up', false],
      ['both', false],
    ] as const) {
      const world = new RegistryWorld();
      const registry = await world.open();
      await world.run(registry.create('/e', bytes(''), { mode: 'ephemeral' }));
      registry.link.freeze(direction);
      await world.time.advance(10_000);
      expect([direction, world.cluster.nodeCount]).toEqual([direction, survives ? 2 : 1]);
    }
  });

  it.each(['up', 'down', 'both'] as const)(
    'frozen (%s) is given up by the client after two thirds of its timeout',
    async (direction) => {
      const world = new RegistryWorld();
      const registry = await world.open({ sessionTimeout: 900 });
      const pending = outcome(registry.get('/', { timeout: 10_000 }));
      registry.link.freeze(direction);
      await world.time.advance(599);
      expect(registry.session.state).toBe('connected');
      await world.time.advance(1);
      expect(registry.session.state).toBe('suspended');
      expect(await world.run(pending, 0)).toBe('CONNECTION_LOST');
    },
  );

  it('frozen is given up also when the other side has gone meanwhile', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const registry = await world.open();
    registry.link.freeze();
    await world.time.advance(100);
    world.cluster.servers[registry.link.server ?? 0]?.stop();
    await world.time.advance(600);
    expect(registry.session.state).toBe('suspended');
    registry.link.thaw();
    await world.time.settle();
    expect(registry.session.state).toBe('connected');
  });

  it('frozen again and again is given up all the same', async () => {
    const world = new RegistryWorld({ sessionTimeout: 900 });
    const registry = await world.open();
    for (let round = 0; round < 6; round += 1) {
      registry.link.freeze(round % 2 ? 'up' : 'down');
      await world.time.advance(100);
    }
    expect(registry.session.state).toBe('suspended');
  });

  it('thawed in time lets everything arrive as if nothing had been', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    const states = new Recording(registry.session$);
    registry.link.freeze();
    const answers = Promise.all([
      registry.create('/a', bytes('1')),
      registry.set('/a', bytes('2'), 0),
      registry.get('/a'),
    ]);
    await world.time.advance(500);
    registry.link.thaw();
    expect(textOf((await world.run(answers, 0))[2])).toBe('2');
    await world.time.advance(5_000);
    expect(statesOf(states)).toEqual(['connected']);
  });

  it('delays answers and events, not requests', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    const started = world.time.now;
    registry.link.delay(300);
    let committedAt: number | undefined;
    world.cluster.commits$.subscribe(() => (committedAt = world.time.now - started));
    await world.run(registry.create('/a', bytes('')));
    expect([committedAt, world.time.now - started]).toEqual([0, 300]);
    registry.link.delay(0);
  });

  it('delays every message by the latency of the cluster, and keeps their order', async () => {
    const latencies = [30, 1, 20, 5, 50, 1];
    const world = new RegistryWorld();
    let index = 0;
    const cluster = new MemoryCluster({
      clock: world.clock,
      latency: () => latencies[index++ % latencies.length] ?? 0,
    });
    const registry = cluster.registry({ environment: world.environment });
    await world.run(registry.connect());
    const order: number[] = [];
    await world.run(
      Promise.all([0, 1, 2, 3, 4].map((n) => registry.exists('/').then(() => void order.push(n)))),
    );
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it('loses the answer of the next write, not of a read, with its effect', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    registry.link.loseNextAnswer();
    await world.run(registry.get('/'));
    expect(await world.run(failureCode(registry.create('/a', bytes(''))))).toBe('CONNECTION_LOST');
    expect(world.cluster.nodeCount).toBe(2);
    await world.run(registry.create('/b', bytes('')));
  });

  it('loses the next write, not a read, without its effect', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    registry.link.loseNextRequest();
    await world.run(registry.get('/'));
    expect(await world.run(failureCode(registry.create('/a', bytes(''))))).toBe('CONNECTION_LOST');
    expect(world.cluster.nodeCount).toBe(1);
    await world.run(registry.create('/b', bytes('')));
  });

  it('of a crashed client says and hears nothing any more; its session runs out', async () => {
    const world = new RegistryWorld({ timed: false });
    const registry = await world.open();
    await world.run(registry.create('/e', bytes(''), { mode: 'ephemeral' }));
    const states = new Recording(registry.session$);
    const view = new Recording(registry.watch('/e'));
    await world.time.settle();
    registry.link.crash();
    await world.time.advance(999);
    expect(world.cluster.nodeCount).toBe(2);
    await world.time.advance(1);
    expect([world.cluster.nodeCount, world.cluster.registries.size]).toEqual([1, 0]);
    registry.link.heal();
    await world.time.advance(60_000);
    expect([states.values.length, view.values.length]).toEqual([1, 1]);
    expect(await world.run(outcome(registry.get('/')))).toBe('TIMED_OUT');
  });

  it('cut, healed and used in one go does not mix up old and new', async () => {
    const world = new RegistryWorld({ latency: () => 10 });
    const registry = await world.open();
    const { id } = registry.session;
    const before = outcome(registry.create('/a', bytes('')));
    registry.link.cut();
    registry.link.heal();
    const between = outcome(registry.create('/b', bytes('')));
    await world.time.advance(200);
    expect([await before, await between]).toEqual(['CONNECTION_LOST', 'CONNECTION_LOST']);
    expect(registry.session).toMatchObject({ state: 'connected', id });
    expect(await world.run(registry.create('/c', bytes('')))).toBe('/c');
  });
});

describe('a server in memory', () => {
  it('that lags serves the past, until a sync', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const writer = await world.open();
    const reader = await openOn(world, elsewhereThan(writer));
    await world.run(writer.create('/a', bytes('0')));
    world.cluster.servers[reader.link.server!]!.lag(100);
    await world.run(writer.set('/a', bytes('1'), 0));
    expect(textOf(await world.run(reader.get('/a'), 0))).toBe('0');
    await world.time.advance(99);
    expect(textOf(await world.run(reader.get('/a'), 0))).toBe('0');
    await world.time.advance(1);
    expect(textOf(await world.run(reader.get('/a'), 0))).toBe('1');
    await world.run(writer.set('/a', bytes('2'), 1));
    const started = world.time.now;
    await world.run(reader.sync('/a'));
    expect(world.time.now - started).toBe(100);
    expect(textOf(await world.run(reader.get('/a'), 0))).toBe('2');
  });

  it('that lags answers a write once it has it, so that a client reads what it wrote', async () => {
    const world = new RegistryWorld();
    const registry = await world.open();
    world.cluster.servers[0]?.lag(50);
    const answers = Promise.all([
      registry.create('/a', bytes('0')),
      registry.get('/a'),
      registry.set('/a', bytes('1'), 0),
      registry.get('/a'),
      registry.exists('/a'),
    ]);
    const [, first, , second, stat] = await world.run(answers);
    expect([textOf(first), textOf(second), stat?.version]).toEqual(['0', '1', 1]);
    expect(world.time.now).toBe(100);
  });

  it('that lags shows a view every value that it keeps, in order', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const writer = await world.open();
    const reader = await openOn(world, elsewhereThan(writer));
    await world.run(writer.create('/a', bytes('0')));
    const view = new Recording(reader.watch('/a'));
    await world.time.settle();
    world.cluster.servers[reader.link.server!]!.lag(100);
    for (let version = 0; version < 3; version += 1) {
      await world.run(writer.set('/a', bytes(String(version + 1)), version));
      await world.time.advance(10);
    }
    expect(view.values.map(textOf)).toEqual(['0']);
    await world.time.advance(100);
    expect(view.values.map(textOf)).toEqual(['0', '1', '2', '3']);
  });

  it('that is stalled serves the past to clients whose sessions have ended, until it resumes', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const writer = await world.open();
    const reader = await openOn(world, elsewhereThan(writer));
    await world.run(reader.create('/e', bytes(''), { mode: 'ephemeral' }));
    const { id } = reader.session;
    const states = new Recording(reader.session$);
    const view = new Recording(reader.watch('/e'));
    await world.time.settle();
    const server = world.cluster.servers[reader.link.server!]!;
    server.stall();
    await world.time.advance(5_000);
    // For everybody else the session is over; this client reads its own node and believes to be fine.
    await world.run(writer.sync('/e'));
    expect(await world.run(writer.exists('/e'))).toBeUndefined();
    expect(await world.run(reader.exists('/e'), 0)).toMatchObject({ owner: id });
    expect([reader.session.state, statesOf(states)]).toEqual(['connected', ['connected']]);
    const write = outcome(reader.set('/e', bytes('x'), 0, { timeout: 60_000 }));
    await world.time.advance(1_000);
    server.resume();
    await world.time.settle();
    expect(['CONNECTION_LOST', 'SESSION_LOST']).toContain(await write);
    expect(statesOf(states)).toEqual(['connected', 'suspended', 'lost', 'connecting', 'connected']);
    expect(view.last).toBeUndefined();
  });

  it('that is stalled for a moment costs nobody a session, and holds writes in order', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const writer = await world.open();
    const registry = await openOn(world, elsewhereThan(writer));
    const { id } = registry.session;
    const server = world.cluster.servers[registry.link.server!]!;
    server.stall();
    const order: string[] = [];
    const note = (name: string) => (): void => void order.push(name);
    const early = registry.exists('/a');
    const held = Promise.all([
      registry.create('/a', bytes('0')).then(note('create')),
      registry.set('/a', bytes('1'), 0).then(note('set')),
      registry.get('/a').then((read) => note(`get ${textOf(read)}`)()),
      registry.set('/a', bytes('2'), 1).then(note('set')),
      registry.sync('/a').then(note('sync')),
      registry.get('/a').then((read) => note(`get ${textOf(read)}`)()),
    ]);
    expect(await world.run(early, 0)).toBeUndefined();
    await world.time.advance(500);
    expect(order).toEqual([]);
    server.resume();
    await world.run(held, 0);
    expect(order).toEqual(['create', 'set', 'get 1', 'set', 'sync', 'get 2']);
    await world.time.advance(5_000);
    expect(registry.session).toMatchObject({ state: 'connected', id });
  });

  it('is not chosen by a client that has seen more, which waits for it if it must', async () => {
    const world = new RegistryWorld({ servers: 3 });
    const [first, second, third] = world.cluster.servers;
    const writer = await openOn(world, 0);
    const reader = await openOn(world, 0);
    second!.lag(200);
    third!.lag(400);
    await world.run(writer.create('/a', bytes('x')));
    await world.run(reader.get('/a'));
    first!.stop();
    await world.time.settle();
    expect(reader.session.state).toBe('suspended');
    const started = world.time.now;
    const read = await world.run(reader.get('/a', { timeout: 900 }));
    expect([textOf(read), reader.link.server, world.time.now - started]).toEqual(['x', 1, 200]);
  });

  it('is chosen in a new session whatever that one has seen, so views begin with a sync', async () => {
    const world = new RegistryWorld({ servers: 2 });
    const writer = await openOn(world, 0);
    const reader = await openOn(world, 0);
    await world.run(writer.create('/a', bytes('0')));
    const view = new Recording(reader.watch('/a'));
    await world.time.settle();
    world.cluster.servers[1]!.lag(300);
    await world.run(writer.set('/a', bytes('1'), 0));
    await world.time.settle();
    // It hears of its end on the server that is up to date, and only then has to turn to the other one.
    reader.session$.subscribe(({ state }) => {
      if (state === 'lost') world.cluster.servers[0]!.stop();
    });
    reader.link.expire();
    await world.time.settle();
    expect([reader.session.state, reader.link.server]).toEqual(['connected', 1]);
    const stranger = await world.open();
    expect(textOf(await world.run(stranger.get('/a'), 0))).toBe('0');
    await world.time.advance(1_000);
    expect(view.values.map(textOf)).toEqual(['0', '1']);
  });
});

describe('a memory cluster on a bad day', () => {
  /** Random faults for a while, then health; what a view showed, and all that was committed. */
  async function live(seed: number) {
    const world = new RegistryWorld({ seed, servers: 3 });
    const { random, clock, cluster, time } = world;
    const commits: string[] = [];
    cluster.commits$.subscribe(({ id, change, by }) => {
      commits.push(`${time.now} ${id} ${change.kind} ${by ?? '-'}`);
    });
    const writer = await world.open({ label: 'writer' });
    await world.run(writer.create('/a', bytes('0')));
    const readers = await Promise.all(
      ['r1', 'r2', 'r3'].map(async (label) => {
        const registry = world.client({ label });
        void registry.connect().catch(() => {});
        return { registry, view: new Recording(registry.watch('/a')) };
      }),
    );
    const everyone = [writer, ...readers.map(({ registry }) => registry)];
    const disturb = (): void => {
      const { link } = random.pick(everyone);
      const server = random.pick(cluster.servers);
      random.pick([
        () => link.cut(),
        () => everyone.forEach((client) => client.link.heal()),
        () => link.freeze(random.pick(['up', 'down', 'both'])),
        () => link.thaw(),
        () => link.delay(random.below(100)),
        () => link.loseNextAnswer(),
        () => link.expire(),
        () => random.pick(everyone).reconnect(),
        () => server.lag(random.below(300)),
        () => server.stall(),
        () => server.stop(),
        () => cluster.servers.forEach((each) => each.resume()),
        () => cluster.servers.forEach((each) => each.start()),
      ])();
      if (time.now < 20_000) clock.setTimer(disturb, random.below(400));
    };
    const write = (): void => {
      void writer.set('/a', bytes(''), ANY_VERSION, { timeout: 200 }).catch(() => {});
      if (time.now < 20_000) clock.setTimer(write, random.below(40));
    };
    disturb();
    write();
    await time.advance(21_000);
    for (const server of cluster.servers) {
      server.lag(0);
      server.resume();
      server.start();
    }
    for (const { link } of everyone) {
      link.thaw();
      link.heal();
      link.delay(0);
    }
    await time.advance(5_000);
    const last = (await world.run(writer.get('/a'))).stat.version;
    const shown = readers.map(({ view }) => view.values.map((value) => value?.stat.version ?? -1));
    const states = everyone.map(({ session }) => session.state);
    return { commits, shown, last, states };
  }

  it('recovers, and no view ever goes back or misses the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(1e6), async (seed) => {
        const { shown, last, states } = await live(seed);
        expect(states).toEqual(['connected', 'connected', 'connected', 'connected']);
        for (const versions of shown) {
          expect(versions.at(-1)).toBe(last);
          expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is the same day for the same seed', async () => {
    const [one, two, another] = [await live(7), await live(7), await live(8)];
    expect(two).toEqual(one);
    expect(another.commits).not.toEqual(one.commits);
    expect(one.commits.length).toBeGreaterThan(100);
  });
});

/** Another server than that of a client. */
function elsewhereThan({ link }: MemoryRegistry): number {
  return link.server === 0 ? 1 : 0;
}

/** A client connected to this very server. */
async function openOn(world: RegistryWorld, number: number): Promise<MemoryRegistry> {
  const { cluster } = world;
  const pickServer = jest.spyOn(cluster, 'pickServer').mockReturnValue(cluster.servers[number]);
  const registry = await world.open();
  pickServer.mockRestore();
  expect(registry.link.server).toBe(number);
  return registry;
}
