import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/kit/eventually.js';
import { silentLog, systemEnvironment } from '../environment.js';
import { parseConnectString } from './connect-string.js';
import type { Connection } from './connection.js';
import { ServerAddresses } from './server-addresses.js';
import { SessionKeeper } from './session-keeper.js';
import type { ClientConfig, NativeClient } from './zookeeper-client.js';

/** What a server cannot easily be brought to do. */
class FakeClient extends EventEmitter {
  state = 1;
  client_id = '0';
  client_password = '';
  timeout = 0;
  isClosed = false;
  authenticated: (rc: number) => void = () => {};

  constructor(readonly config: ClientConfig) {
    super();
  }

  init(): void {}

  connect(id = 'a1'): void {
    this.state = 3;
    this.client_id = id;
    this.client_password = 'AB';
    this.timeout = 1_000;
    this.emit('connect', this);
  }

  breakDown(): void {
    this.state = 0;
    this.emit('connecting', this);
  }

  end(code: number): void {
    this.state = 0;
    this.emit('close', this, code);
  }

  set_servers(): number {
    if (this.state === 3) this.state = 999;
    return 0;
  }

  add_auth(_scheme: string, _auth: string, callback: (rc: number) => void): number {
    this.authenticated = callback;
    return 0;
  }

  a_sync(_path: string, callback: (rc: number) => void): number {
    setImmediate(() => callback(0));
    return 0;
  }

  /** As the native client does it when a write fails: the socket is closed, and nobody is told. */
  a_exists(): number {
    this.state = 999;
    return 0;
  }

  close(): void {
    this.isClosed = true;
  }
}

describe('the keeper of a session', () => {
  const clients: FakeClient[] = [];
  const told: string[] = [];
  const errors: string[] = [];
  let connection: Connection | undefined;
  let keeper: SessionKeeper;

  function start(connect: string, credentials?: string): void {
    const environment = systemEnvironment({ ...silentLog, error: (text) => errors.push(text) });
    keeper = new SessionKeeper(
      { sessionTimeout: 900, connectTimeout: 900, credentials },
      new ServerAddresses(parseConnectString(connect).servers, environment),
      environment,
      async () => (config) => {
        const client = new FakeClient(config);
        clients.push(client);
        return client as unknown as NativeClient;
      },
      {
        connected: (established) => {
          connection = established;
          told.push('connected');
        },
        suspended: () => told.push('suspended'),
        expired: () => told.push('expired'),
        refused: (address) => told.push(`refused by ${address}`),
        notified: (path, event) => told.push(`${event} ${path}`),
      },
    );
    void keeper.start();
  }

  const nth = (index: number): Promise<FakeClient> => eventually(() => clients[index] ?? false);

  afterEach(async () => {
    // Nobody is there to end the session with.
    for (const client of clients) client.client_id = '0';
    await keeper.stop();
    clients.length = 0;
    told.length = 0;
    errors.length = 0;
  });

  it('gives each client one address, whatever their number, and tries them all in turn', async () => {
    start('127.0.0.1:1,127.0.0.1:2,127.0.0.1:1,127.0.0.1:3,127.0.0.1:4');
    for (let index = 0; index < 8; index += 1) (await nth(index)).state = 0;
    const tried = clients.slice(0, 8).map(({ config }) => config.address);
    expect(new Set(tried.slice(0, 4)).size).toBe(4);
    expect(tried.slice(4)).toEqual(tried.slice(0, 4));
    await eventually(() =>
      expect(clients.slice(0, 8).every(({ isClosed }) => isClosed)).toBe(true),
    );
  });

  it('leaves a silent server for the next one', async () => {
    start('127.0.0.1:1,127.0.0.1:2');
    const silent = await nth(0);
    silent.state = 2;
    const other = await nth(1);
    expect(silent.isClosed).toBe(true);
    expect(other.config.address).not.toBe(silent.config.address);
  });

  it('takes the session from a lost connection to another server', async () => {
    start('127.0.0.1:1,127.0.0.1:2');
    const first = await nth(0);
    first.connect();
    first.emit('child', first, '/a');
    first.breakDown();
    // At once: its closed socket must not stay in the event loop.
    expect(first.isClosed).toBe(true);
    const second = await nth(1);
    expect(second.config).toMatchObject({ session: { id: 'a1', password: 'AB' } });
    expect(second.config.address).not.toBe(first.config.address);
    second.connect();
    first.emit('changed', first, '/b');
    expect(told).toEqual(['connected', 'children /a', 'suspended', 'connected']);
  });

  it('makes a new client for a new session, not on the stack of the old one', async () => {
    start('127.0.0.1:1');
    (await nth(0)).connect();
    clients[0]?.breakDown();
    const second = await nth(1);
    second.end(-112);
    expect(clients).toHaveLength(2);
    const third = await nth(2);
    expect(third.config.session).toBeUndefined();
    third.connect('b2');
    expect(told).toEqual(['connected', 'suspended', 'expired', 'connected']);
  });

  it('notices a connection that broke while a request was written', async () => {
    start('127.0.0.1:1');
    (await nth(0)).connect();
    void connection?.calls.exists('/a', false);
    expect(told).toEqual(['connected', 'suspended']);
    expect(clients[0]?.isClosed).toBe(true);
    (await nth(1)).connect();
    expect(told).toEqual(['connected', 'suspended', 'connected']);
  });

  it('is connected only when the server has accepted the credentials', async () => {
    start('127.0.0.1:1', 'me:secret');
    (await nth(0)).connect();
    expect(told).toEqual([]);
    clients[0]?.end(-113);
    (await nth(1)).end(-113);
    expect(told).toEqual(['refused by 127.0.0.1:1', 'refused by 127.0.0.1:1']);
    expect(errors).toEqual(['ZooKeeper 127.0.0.1:1 refuses the credentials in registry.auth']);
    const accepting = await nth(2);
    accepting.connect();
    accepting.authenticated(0);
    expect(told.at(-1)).toBe('connected');
    accepting.breakDown();
    (await nth(3)).end(-113);
    expect(errors).toHaveLength(2);
  });

  it('rests between connections that break early', async () => {
    start('127.0.0.1:1');
    const moments: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const client = await nth(index);
      moments.push(performance.now());
      client.connect();
      client.breakDown();
    }
    expect((moments.at(-1) as number) - (moments[0] as number)).toBeGreaterThan(300);
  });
});
