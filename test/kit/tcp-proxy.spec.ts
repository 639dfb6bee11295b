import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { eventually } from './eventually.js';
import { listenOnFreePort } from './free-port.js';
import { TcpProxy } from './tcp-proxy.js';
import { OpCode } from './zookeeper-protocol.js';

/** A server that keeps what it gets and answers each frame with a reply of the same xid. */
class FakeServer {
  readonly frames: string[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => {
    this.sockets.add(socket.on('error', () => {}));
    socket.on('data', (chunk: Buffer) => {
      this.frames.push(chunk.subarray(4).toString('hex'));
      socket.write(frame(chunk.readInt32BE(4), 0));
    });
  });
  port = 0;

  async start(): Promise<this> {
    this.port = await listenOnFreePort(this.server);
    return this;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

function frame(...words: number[]): Buffer {
  const bytes = Buffer.alloc(4 + 4 * words.length);
  [4 * words.length, ...words].forEach((word, index) => bytes.writeInt32BE(word, 4 * index));
  return bytes;
}

class Client {
  received = 0;
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.received += chunk.length));
    socket.on('error', () => {});
    socket.on('close', () => (this.closed = true));
  }

  static async connect(port: number): Promise<Client> {
    const socket = connect(port, '127.0.0.1');
    const client = new Client(socket);
    await once(socket, 'connect');
    return client;
  }

  /** One frame, and its answer of 12 bytes. */
  async ask(...words: number[]): Promise<void> {
    const before = this.received;
    this.socket.write(frame(...words));
    await eventually(() => this.received === before + 12);
  }
}

describe('TcpProxy', () => {
  let server: FakeServer;
  let proxy: TcpProxy;
  let client: Client;

  beforeEach(async () => {
    server = await new FakeServer().start();
    proxy = await TcpProxy.start({ target: server.port });
    client = await Client.connect(proxy.port);
    await client.ask(0);
  });

  afterEach(async () => {
    client.socket.destroy();
    await proxy.close();
    server.close();
  });

  it('counts requests by opcode, replies and bytes', async () => {
    await client.ask(1, OpCode.getData);
    await client.ask(2, OpCode.setData);
    await client.ask(3, OpCode.setData);
    expect(proxy.stats).toEqual({
      connections: 1,
      requests: new Map([
        [OpCode.createSession, 1],
        [OpCode.getData, 1],
        [OpCode.setData, 2],
      ]),
      replies: 4,
      notifications: 0,
      bytesUp: 8 + 3 * 12,
      bytesDown: 4 * 12,
    });
    proxy.reset();
    expect(proxy.stats).toMatchObject({ requests: new Map(), bytesUp: 0, bytesDown: 0 });
  });

  it('delays a direction', async () => {
    proxy.down.delay(60);
    const before = performance.now();
    await client.ask(1, OpCode.ping);
    expect(performance.now() - before).toBeGreaterThanOrEqual(59);
  });

  it('holds the bytes of a frozen direction until it thaws, the end of a connection included', async () => {
    proxy.up.freeze();
    client.socket.write(frame(1, OpCode.ping));
    client.socket.end();
    await eventually(() => proxy.stats.bytesUp === 20);
    expect(server.frames).toHaveLength(1);
    expect(client.closed).toBe(false);
    proxy.up.thaw();
    await eventually(() => server.frames.length === 2);
    await eventually(() => client.closed && proxy.open === 0);
    expect(client.received).toBe(24);
  });

  it('freezes the way back alone', async () => {
    proxy.down.freeze();
    client.socket.write(frame(1, OpCode.ping));
    await eventually(() => proxy.stats.bytesDown === 24);
    expect(server.frames).toHaveLength(2);
    expect(client.received).toBe(12);
    proxy.thaw();
    await eventually(() => client.received === 24);
  });

  it('cuts connections and refuses new ones until it is restored on the same port', async () => {
    await proxy.cut();
    await eventually(() => client.closed);
    await expect(Client.connect(proxy.port)).rejects.toThrow('ECONNREFUSED');
    await proxy.restore();
    client = await Client.connect(proxy.port);
    await client.ask(0);
  });

  it('loses the answer to a request that was delivered', async () => {
    const lost = proxy.loseReply(({ opcode }) => opcode === OpCode.create);
    await client.ask(1, OpCode.getData);
    client.socket.write(Buffer.concat([frame(2, OpCode.create), frame(3, OpCode.create)]));
    await expect(lost).resolves.toMatchObject({ xid: 2, opcode: OpCode.create });
    await eventually(() => client.closed);
    expect(server.frames.at(-1)).toBe(frame(2, OpCode.create).subarray(4).toString('hex'));
    expect(client.received).toBe(24);
  });

  it('loses a request before it is delivered', async () => {
    const lost = proxy.loseRequest(({ opcode }) => opcode === OpCode.create);
    client.socket.write(frame(1, OpCode.create));
    await lost;
    expect(client.closed || (await eventually(() => client.closed))).toBe(true);
    expect(server.frames).toHaveLength(1);
  });

  it('passes a large stream unharmed while it is slow', async () => {
    proxy.up.freeze();
    const bytes = Buffer.alloc(8 * 1024 * 1024, 'x');
    bytes.writeInt32BE(bytes.length - 4);
    client.socket.write(bytes);
    await eventually(() => proxy.stats.bytesUp > 1024 * 1024);
    proxy.up.thaw();
    await eventually(
      () => server.frames.join('').length / 2 > bytes.length - 4 * server.frames.length,
    );
    expect(proxy.stats.bytesUp).toBe(8 + bytes.length);
  });
});
