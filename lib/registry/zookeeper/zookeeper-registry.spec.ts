import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { deferred, eventually } from '../../../test/kit/eventually.js';
import { uniqueNamespace } from '../../../test/kit/namespace.js';
import { sharedConnect } from '../../../test/kit/shared-zookeeper.js';
import { TcpProxy } from '../../../test/kit/tcp-proxy.js';
import { ZooKeeperServer } from '../../../test/kit/zookeeper-server.js';
import { type Log, silentLog, systemEnvironment } from '../environment.js';
import { ANY_VERSION } from '../registry.js';
import { endSession } from './session-ending.js';
import { loadClientFactory, type NativeClient } from './zookeeper-client.js';
import {
  type MissingChroot,
  ZooKeeperRegistry,
  type ZooKeeperRegistryOptions,
  type ZooKeeperSeams,
} from './zookeeper-registry.js';

const SECRET = 'never-to-be-shown';

describe('the registry on ZooKeeper', () => {
  const closing: (() => Promise<unknown>)[] = [];
  const server = sharedConnect();
  const ownChroot = (): string => `/${uniqueNamespace('zookeeper-registry')}`;

  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  function registryOf(
    options: Partial<ZooKeeperRegistryOptions> = {},
    seams?: ZooKeeperSeams,
    log: Log = silentLog,
  ): ZooKeeperRegistry {
    const registry = new ZooKeeperRegistry(
      { connect: server + ownChroot(), sessionTimeout: 6_000, ...options },
      systemEnvironment(log),
      seams,
    );
    closing.push(() => registry.close());
    return registry;
  }

  async function connected(...parameters: Parameters<typeof registryOf>) {
    const registry = registryOf(...parameters);
    await registry.connect();
    return registry;
  }

  /** A seam that lets a test see the native clients. */
  function spied() {
    const clients: (NativeClient & { listenerCount(event: string): number })[] = [];
    const loadClient: ZooKeeperSeams['loadClient'] = async () => {
      const factory = await loadClientFactory();
      return (config) => {
        const client = factory(config);
        clients.push(client as (typeof clients)[number]);
        return client;
      };
    };
    return { clients, seams: { loadClient } };
  }

  async function proxied(): Promise<TcpProxy> {
    const [first = ''] = server.split(',');
    const proxy = await TcpProxy.start({ target: first });
    closing.push(() => proxy.close());
    return proxy;
  }

  async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
    return promise.then(
      () => {
        throw new Error('resolved where a rejection was expected');
      },
      (error: Error) => error,
    );
  }

  it('sends versions and data as they are', async () => {
    const registry = await connected();
    await registry.create('/a', Buffer.alloc(0));
    expect((await registry.get('/a')).data).toEqual(Buffer.alloc(0));
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect((await registry.set('/a', all, 0)).version).toBe(1);
    expect((await registry.get('/a')).data).toEqual(all);
    await registry.set('/a', Buffer.from('null'), ANY_VERSION);
    expect((await failureOf(registry.set('/a', all, 0))).code).toBe('BAD_VERSION');
    for (const version of [undefined, null, 1.5, -2] as unknown as number[]) {
      expect((await failureOf(registry.set('/a', all, version))).code).toBe('INVALID');
      expect((await failureOf(registry.delete('/a', version))).code).toBe('INVALID');
    }
    expect((await failureOf(registry.create('/b', null as unknown as Buffer))).code).toBe(
      'INVALID',
    );
    await registry.delete('/a', ANY_VERSION);
  });

  it('takes data that fills the limit, and refuses more before it is sent', async () => {
    const proxy = await proxied();
    const registry = await connected({ connect: proxy.connect + ownChroot() });
    await registry.create('/a', Buffer.alloc(1_000_000, 1));
    expect((await registry.get('/a')).data).toHaveLength(1_000_000);
    const { bytesUp } = proxy.stats;
    const tooMuch = Buffer.alloc(1_000_001);
    expect((await failureOf(registry.create('/b', tooMuch))).code).toBe('TOO_LARGE');
    expect((await failureOf(registry.set('/a', tooMuch, 0))).code).toBe('TOO_LARGE');
    expect(proxy.stats.bytesUp).toBe(bytesUp);
    expect(registry.session.state).toBe('connected');
  });

  it('says nothing of data or credentials in an error', async () => {
    const registry = await connected({ auth: { credentials: `me:${SECRET}` } });
    const data = Buffer.from(SECRET);
    await registry.create('/a', data);
    await registry.create('/e', data, { mode: 'ephemeral' });
    const errors = await Promise.all([
      failureOf(registry.create('/a', data)),
      failureOf(registry.create('/no/parent', data)),
      failureOf(registry.create('/e/child', data)),
      failureOf(registry.set('/a', data, 7)),
      failureOf(registry.set('/none', data, 0)),
      failureOf(registry.set('/a', SECRET as unknown as Buffer, 0)),
    ]);
    expect(errors.map(({ code }) => code)).toEqual([
      'NODE_EXISTS',
      'NO_NODE',
      'NO_CHILDREN_FOR_EPHEMERALS',
      'BAD_VERSION',
      'NO_NODE',
      'INVALID',
    ]);
    for (const error of errors) {
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(SECRET);
    }
  });

  describe('with a chroot', () => {
    it('creates it, and shows no path of above', async () => {
      const chroot = `${ownChroot()}/deep/app`;
      const root = await connected({ connect: server });
      const registry = await connected({ connect: server + chroot });
      const seen: unknown[] = [];
      registry.watchChildren('/').subscribe((names) => seen.push(names));
      await eventually(() => expect(seen).toEqual([[]]));
      expect(await registry.create('/x/y', Buffer.from('1'), { parents: true })).toBe('/x/y');
      const options = { mode: 'ephemeral-sequential' } as const;
      expect(await registry.create('/s-', Buffer.alloc(0), options)).toMatch(/^\/s-\d{10}$/);
      await eventually(() => expect(seen.at(-1)).toEqual(['s-0000000001', 'x']));
      expect((await root.get(`${chroot}/x/y`)).data.toString()).toBe('1');
      expect((await registry.exists('/'))?.childCount).toBe(2);
      expect((await failureOf(registry.get('/none'))).message).toBe(
        'get /none: the node does not exist',
      );
    });

    it('leaves one that exists as it is', async () => {
      const chroot = ownChroot();
      const first = await connected({ connect: server + chroot });
      await first.create('/a', Buffer.from('1'));
      const second = await connected({ connect: server + chroot });
      expect((await second.get('/a')).data.toString()).toBe('1');
    });

    it('waits for it, writing nothing, where others are to create it', async () => {
      const chroot = ownChroot();
      const registry = registryOf({
        connect: server + chroot,
        connectTimeout: 500,
        missingChroot: () => 'await',
      });
      const error = await failureOf(registry.connect());
      expect(error.code).toBe('UNREACHABLE');
      expect(error.message).toContain(`there is no chroot ${chroot} on ${server}`);
      const root = await connected({ connect: server });
      expect(await root.exists(chroot)).toBeUndefined();
      expect(registry.session.state).toBe('connecting');

      const waiting = registry.connect({ timeout: 10_000 });
      const got = registry.get('/a', { timeout: 10_000 });
      const creator = await connected({ connect: server + chroot });
      await waiting;
      expect((await failureOf(got)).code).toBe('NO_NODE');
      await creator.create('/a', Buffer.from('1'));
      await registry.sync('/a');
      expect((await registry.get('/a')).data.toString()).toBe('1');
    });

    it('creates it once somebody who may has come to share the registry', async () => {
      let missingChroot: MissingChroot = 'await';
      const registry = registryOf({ connectTimeout: 300, missingChroot: () => missingChroot });
      await failureOf(registry.connect());
      missingChroot = 'create';
      await registry.connect({ timeout: 10_000 });
      expect(await registry.children('/')).toEqual([]);
    });

    it('says at once that there is none, where it is told to', async () => {
      const chroot = ownChroot();
      const registry = registryOf({ connect: server + chroot, missingChroot: () => 'refuse' });
      const started = performance.now();
      const error = await failureOf(registry.connect());
      expect(performance.now() - started).toBeLessThan(5_000);
      expect(error.code).toBe('UNREACHABLE');
      expect(error.message).toContain(`there is no chroot ${chroot}`);
      const root = await connected({ connect: server });
      expect(await root.exists(chroot)).toBeUndefined();
    });
  });

  describe('with credentials', () => {
    const auth = { credentials: `me:${SECRET}` };

    it('closes what it creates to strangers', async () => {
      const warnings: string[] = [];
      const log = { ...silentLog, warn: (text: string) => warnings.push(text) };
      const connect = server + ownChroot();
      const registry = await connected({ connect, auth }, undefined, log);
      await registry.create('/a/b', Buffer.from('1'), { parents: true });
      const mode = 'ephemeral-sequential';
      const sequential = await registry.create('/a/s-', Buffer.from('1'), { mode });

      const stranger = await connected({ connect });
      const other = await connected({ connect, auth: { credentials: 'me:another' } });
      for (const intruder of [stranger, other]) {
        const attempts = await Promise.all([
          failureOf(intruder.get('/a')),
          failureOf(intruder.get('/a/b')),
          failureOf(intruder.get(sequential)),
          failureOf(intruder.set('/a/b', Buffer.alloc(0), ANY_VERSION)),
          failureOf(intruder.children('/a')),
          failureOf(intruder.children('/')),
          failureOf(intruder.create('/a/c', Buffer.alloc(0))),
          failureOf(intruder.delete('/a/b', ANY_VERSION)),
        ]);
        expect(new Set(attempts.map(({ code }) => code))).toEqual(new Set(['NO_AUTH']));
      }
      const denied = deferred<unknown>();
      stranger.watch('/a/b').subscribe({ error: (error) => denied.resolve(error) });
      expect(await denied.promise).toMatchObject({ code: 'NO_AUTH' });

      const friend = await connected({ connect, auth });
      expect((await friend.get('/a/b')).data.toString()).toBe('1');
      expect(warnings.filter((text) => text.includes('open for one round trip'))).toHaveLength(1);
      expect(warnings.join()).not.toContain(SECRET);
    });

    it('leaves open what was there before', async () => {
      const connect = server + ownChroot();
      const stranger = await connected({ connect });
      await stranger.create('/shared', Buffer.from('1'));
      const registry = await connected({ connect, auth });
      await registry.create('/shared/mine', Buffer.from('2'), { parents: true });
      expect((await stranger.get('/shared')).data.toString()).toBe('1');
      expect((await failureOf(stranger.get('/shared/mine'))).code).toBe('NO_AUTH');
    });

    it('keeps them across a reconnect, and closes what a lost connection left open', async () => {
      const proxy = await proxied();
      const chroot = ownChroot();
      const registry = await connected({ connect: proxy.connect + chroot, auth });
      await registry.create('/a', Buffer.from('1'));
      // The node is created, its answer lost: nothing could be closed.
      const create = 1;
      void proxy.loseReply(({ opcode }) => opcode === create);
      expect((await failureOf(registry.create('/b', Buffer.from('2')))).code).toBe(
        'CONNECTION_LOST',
      );
      expect((await registry.get('/a')).data.toString()).toBe('1');
      const stranger = await connected({ connect: server + chroot });
      await eventually(async () =>
        expect((await failureOf(stranger.get('/b'))).code).toBe('NO_AUTH'),
      );
      expect((await registry.get('/b')).data.toString()).toBe('2');
    });
  });

  it('rejects when the credentials are refused, says so once, and goes on trying', async () => {
    const enabled = '-Dzookeeper.DigestAuthenticationProvider.enabled';
    const refusing = await ZooKeeperServer.start({ javaArguments: [`${enabled}=false`] });
    closing.push(() => refusing.close());
    const errors: string[] = [];
    const log = { ...silentLog, error: (text: string) => errors.push(text) };
    const { clients, seams } = spied();
    const auth = { credentials: `me:${SECRET}` };
    const registry = registryOf({ connect: refusing.connect, auth }, seams, log);
    for (let time = 0; time < 2; time += 1) {
      const error = await failureOf(registry.connect());
      expect(error.code).toBe('NO_AUTH');
      expect(error.message).toBe(
        'connect /: access denied; the credentials in registry.auth do not open ' +
          `ZooKeeper ${refusing.connect}, which refuses them`,
      );
    }
    await eventually(() => expect(clients.length).toBeGreaterThan(3));
    expect(errors).toEqual([
      `ZooKeeper ${refusing.connect} refuses the credentials in registry.auth`,
    ]);
  });

  describe('when no server answers', () => {
    it('names the address within the connect timeout, and goes on trying', async () => {
      const proxy = await proxied();
      await proxy.cut();
      const registry = registryOf({ connect: proxy.connect, connectTimeout: 300 });
      const started = performance.now();
      const error = await failureOf(registry.connect());
      expect(performance.now() - started).toBeLessThan(1_000);
      expect(error.code).toBe('UNREACHABLE');
      expect(error.message).toContain(proxy.connect);
      await proxy.restore();
      await registry.connect({ timeout: 10_000 });
      expect(registry.session.state).toBe('connected');
    });

    it('names a server that is silent, and a name that does not exist', async () => {
      const proxy = await proxied();
      proxy.freeze();
      const lookup = () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }));
      const registry = registryOf(
        { connect: `${proxy.connect},no-such-host`, connectTimeout: 300 },
        { lookup },
      );
      const { message } = await failureOf(registry.connect());
      expect(message).toContain(proxy.connect);
      expect(message).toContain('no-such-host:2181 (the name cannot be resolved: ENOTFOUND)');
      proxy.thaw();
    });

    it('rests while all of an even number of servers are down', async () => {
      const registry = registryOf({ connect: '127.0.0.1:1,127.0.0.1:2', connectTimeout: 1_000 });
      const before = process.cpuUsage();
      await failureOf(registry.connect());
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(500);
    });

    it('ends what waits, when it is closed', async () => {
      const registry = registryOf({ connect: '127.0.0.1:1' });
      const waiting = [failureOf(registry.connect()), failureOf(registry.get('/a'))];
      await registry.close();
      expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual(['CLOSED', 'CLOSED']);
    });
  });

  it('connects to nothing and loads nothing before it is told to', async () => {
    let loads = 0;
    const registry = registryOf(
      {},
      {
        loadClient: () => {
          loads += 1;
          return Promise.reject(new Error('not installed'));
        },
      },
    );
    expect(registry.session.state).toBe('connecting');
    expect(loads).toBe(0);
    await expect(registry.connect()).rejects.toThrow('not installed');
    await expect(registry.connect()).rejects.toThrow('not installed');
    expect(loads).toBe(2);
  });

  it('connects by the servers it can resolve, and is not held up by a slow name server', async () => {
    const hung = deferred<string[]>();
    const [address = '', port] = server.split(',')[0]?.split(':') ?? [];
    const lookup = (host: string) => (host === 'slow' ? hung.promise : Promise.resolve([address]));
    const registry = registryOf({ connect: `slow:${port},quick:${port}` }, { lookup });
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 1);
    await registry.connect();
    clearInterval(turning);
    expect(turns).toBeGreaterThan(100);
    expect(registry.session.state).toBe('connected');
  });

  it('makes a new client object for a new session', async () => {
    const { clients, seams } = spied();
    const proxy = await proxied();
    const registry = await connected({ connect: proxy.connect + ownChroot() }, seams);
    const states: string[] = [];
    registry.session$.subscribe(({ state, id }) => states.push(`${state} ${id}`));
    await registry.create('/mine', Buffer.alloc(0), { mode: 'ephemeral' });
    const old = registry.session.id;
    const client = clients[0] as NativeClient;
    const session = { id: client.client_id, password: client.client_password };
    await proxy.cut();
    await eventually(() => expect(registry.session.state).toBe('suspended'));
    const { clock } = systemEnvironment();
    expect(await endSession(server.split(',')[0] as string, session, clock, 5_000)).toBe(true);
    await proxy.restore();

    await eventually(() => expect(registry.session.id).not.toBe(old));
    await eventually(() => expect(registry.session.state).toBe('connected'));
    expect(states).toEqual([
      `connected ${old}`,
      `suspended ${old}`,
      `lost ${old}`,
      'connecting undefined',
      `connected ${registry.session.id}`,
    ]);
    expect(new Set(clients).size).toBe(clients.length);
    expect(await registry.exists('/mine')).toBeUndefined();
  });

  it('reconnects on demand and keeps the session', async () => {
    const registry = await connected();
    await registry.create('/mine', Buffer.alloc(0), { mode: 'ephemeral' });
    const { id } = registry.session;
    const pending = failureOf(registry.get('/mine'));
    registry.reconnect();
    expect((await pending).code).toBe('CONNECTION_LOST');
    expect((await registry.exists('/mine'))?.owner).toBe(id);
    expect(registry.session).toMatchObject({ state: 'connected', id });
  });

  it('ends its session on close, also without a connection at that moment', async () => {
    const chroot = ownChroot();
    const proxy = await proxied();
    const witness = await connected({ connect: server + chroot });
    const registry = await connected({ connect: proxy.connect + chroot, sessionTimeout: 60_000 });
    await registry.create('/mine', Buffer.alloc(0), { mode: 'ephemeral' });
    await proxy.cut();
    await eventually(() => expect(registry.session.state).toBe('suspended'));
    await proxy.restore();
    await registry.close();
    await eventually(async () => expect(await witness.exists('/mine')).toBeUndefined());
  });

  it('closes in time on a silent server, without blocking the event loop', async () => {
    const proxy = await proxied();
    const registry = await connected({ connect: proxy.connect });
    proxy.freeze();
    let longest = 0;
    let last = performance.now();
    const ticking = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const started = last;
    await registry.close();
    clearInterval(ticking);
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(longest).toBeLessThan(1_000);
    proxy.thaw();
  });

  it('leaves the event loop at rest although a child process has inherited its socket', async () => {
    const registry = await connected();
    const child = spawn('sleep', ['30']);
    closing.push(async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    await once(child, 'spawn');
    registry.reconnect();
    await registry.sync('/');
    await registry.close();
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(250);
  });

  it('holds no more listeners after 10,000 watch events than before', async () => {
    const { clients, seams } = spied();
    const chroot = ownChroot();
    const registry = await connected({ connect: server + chroot }, seams);
    const writer = await connected({ connect: server + chroot });
    await writer.create('/a', Buffer.from('0'));
    let events = 0;
    clients[0]?.on('changed', () => (events += 1));
    const count = () =>
      ['connect', 'connecting', 'close', 'created', 'deleted', 'changed', 'child'].map(
        (event) => clients[0]?.listenerCount(event) ?? 0,
      );
    const before = count();
    // Each value that is seen is answered with the next one, so that every write fires a watch.
    registry.watch('/a').subscribe((node) => {
      const next = Number(node?.data) + 1;
      if (next <= 10_000) void writer.set('/a', Buffer.from(String(next)), ANY_VERSION);
    });
    await eventually(() => expect(events).toBe(10_000), { timeout: 100_000 });
    expect(count()).toEqual(before);
    expect(clients).toHaveLength(1);
  }, 120_000);
});
