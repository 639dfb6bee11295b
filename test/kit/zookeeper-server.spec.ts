import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { listen } from './free-port.js';
import { sharedConnect } from './shared-zookeeper.js';
import { describe as describeInstallation, locateZooKeeper } from './zookeeper-installation.js';
import { ZooKeeperServer } from './zookeeper-server.js';

describe('ZooKeeperServer', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ minSessionTimeout: 600 });
  });

  afterAll(() => server.close());

  const folder = async () =>
    /dataDir=(.*)\/data\//.exec(await server.fourLetter('conf'))?.[1] ?? '';

  it('serves with the settings asked for', async () => {
    expect(await server.fourLetter('ruok')).toBe('imok');
    const settings = await server.fourLetter('conf');
    expect(settings).toContain('tickTime=200\n');
    expect(settings).toContain('minSessionTimeout=600\n');
    expect(settings).toContain('maxSessionTimeout=60000\n');
    expect(await server.mode()).toBe('standalone');
  });

  it.each(['stop', 'kill'] as const)('comes back at the same place after %s', async (end) => {
    const { connect, pid } = server;
    const before = await folder();
    await server[end]();
    expect(server.running).toBe(false);
    await expect(server.fourLetter('ruok')).rejects.toThrow('ECONNREFUSED');
    await server.start();
    expect(server.connect).toBe(connect);
    expect(server.pid).not.toBe(pid);
    expect(await folder()).toBe(before);
  });

  it('is silent while frozen, and goes on after', async () => {
    await server.freeze();
    await expect(server.fourLetter('ruok', 100)).rejects.toThrow(
      'did not answer ruok within 100 ms',
    );
    expect(await server.mode()).toBeUndefined();
    server.resume();
    expect(await server.fourLetter('ruok')).toBe('imok');
  });

  it('says why it cannot start when its port is taken', async () => {
    await server.kill();
    const stranger = createServer((socket) => socket.destroy());
    await listen(stranger, server.port);
    await expect(server.start()).rejects.toThrow('BindException');
    expect(await server.lostItsPort()).toBe(true);
    await new Promise((resolve) => stranger.close(resolve));
    await server.start();
  });

  it('leaves no process and no file when it is closed, even if frozen', async () => {
    const other = await ZooKeeperServer.start();
    const data = /dataDir=(.*)\/data\//.exec(await other.fourLetter('conf'))?.[1] ?? '';
    const pid = other.pid ?? 0;
    expect(existsSync(data)).toBe(true);
    await other.freeze();
    await other.close();
    expect(existsSync(data)).toBe(false);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('the shared ZooKeeper', () => {
  it('is there', async () => {
    expect(sharedConnect()).toMatch(/:\d+/);
    expect(() => sharedConnect({})).toThrow('set ZOOKEEPER_CONNECT');
    expect(sharedConnect({ ZOOKEEPER_CONNECT: 'zk:1', NDS_TEST_ZOOKEEPER: 'zk:2' })).toBe('zk:1');
  });
});

describe('locateZooKeeper', () => {
  it('does not look elsewhere when ZOOKEEPER_HOME is wrong', async () => {
    await expect(locateZooKeeper({ ...process.env, ZOOKEEPER_HOME: '/nowhere' })).rejects.toThrow(
      'ZOOKEEPER_HOME=/nowhere holds no zookeeper-VERSION.jar',
    );
  });

  it('says that Java is missing', async () => {
    const started = locateZooKeeper({ JAVA_HOME: '/nowhere' });
    await expect(started).rejects.toThrow(
      '`/nowhere/bin/java -version` failed: install a Java runtime',
    );
  });

  it('says which one it found', async () => {
    expect(describeInstallation(await locateZooKeeper())).toMatch(
      /^ZooKeeper: \d+\.\d+.* from .+$/,
    );
  });
});
