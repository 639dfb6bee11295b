import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred, type Deferred } from './eventually.js';
import { listen, listenOnFreePort, LOOPBACK } from './free-port.js';
import {
  FrameSplitter,
  NOTIFICATION_XID,
  toRequest,
  type ZooKeeperRequest,
} from './zookeeper-protocol.js';

export interface TcpProxyOptions {
  /** `host:port`, or a port on this machine. */
  target: string | number;
  /** Changes what clients send, such as an address in it; for each chunk as it arrives. */
  rewriteUp?: (chunk: Buffer) => Buffer;
  /**
   * Milliseconds to go on trying a target that refuses. A proxy has accepted the client by then, so a
   * client that would itself try again soon must not see the refusal as a lost connection. @default 0
   */
  patience?: number;
}

export interface TcpProxyStats {
  connections: number;
  /** Requests of ZooKeeper clients by opcode (see `OpCode`). */
  requests: Map<number, number>;
  replies: number;
  /** Watch events. */
  notifications: number;
  bytesUp: number;
  bytesDown: number;
}

/**
 * Stands between a client and a server and makes the network between them as bad as a test wants it:
 * slow, silent, or gone, each direction for itself (`up` is from client to server).
 */
export class TcpProxy {
  readonly up = new Direction();
  readonly down = new Direction();
  readonly stats: TcpProxyStats = emptyStats();
  private readonly connections = new Set<Connection>();
  /** Clients whose way to the target is still to be found. */
  private readonly arriving = new Set<Socket>();
  private readonly losses: Loss[] = [];
  private readonly target: { host: string; port: number };
  private server: Server | undefined;
  private listeningPort = 0;

  private constructor(private readonly options: TcpProxyOptions) {
    this.target = toTarget(options.target);
  }

  static async start(options: TcpProxyOptions): Promise<TcpProxy> {
    const proxy = new TcpProxy(options);
    const server = proxy.newServer();
    proxy.listeningPort = await listenOnFreePort(server);
    return proxy;
  }

  get port(): number {
    return this.listeningPort;
  }

  /** The address for clients. */
  get connect(): string {
    return `${LOOPBACK}:${this.port}`;
  }

  /** Where it leads. */
  get targetPort(): number {
    return this.target.port;
  }

  /** Connections open at the moment. */
  get open(): number {
    return this.connections.size;
  }

  /** Holds all bytes in both directions; connections stay and new ones are accepted. */
  freeze(): void {
    this.up.freeze();
    this.down.freeze();
  }

  /** Lets the held bytes go, and all later ones. */
  thaw(): void {
    this.up.thaw();
    this.down.thaw();
  }

  /** Drops all connections; clients may come back at once. */
  disconnect(): void {
    for (const connection of this.connections) connection.destroy();
    for (const client of this.arriving) client.destroy();
  }

  /** Refuses new connections until `restore`, and leaves those that there are. */
  refuse(): void {
    this.server?.close();
    this.server = undefined;
  }

  /** Drops all connections and refuses new ones until `restore`. */
  async cut(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    server?.close();
    this.disconnect();
    if (server?.listening) await once(server, 'close');
  }

  async restore(): Promise<void> {
    if (this.server === undefined) await listen(this.newServer(), this.port);
  }

  /**
   * Loses the answer to the next request that matches: the server gets and answers it, the client gets
   * a dropped connection instead. Nothing that the server sends after the request reaches the client.
   *
   * @returns a promise of the request, once the server has answered it and the connection is dropped
   */
  loseReply(matches: (request: ZooKeeperRequest) => boolean): Promise<ZooKeeperRequest> {
    return this.lose({ matches, delivered: true, done: deferred() });
  }

  /** Drops the connection instead of delivering the next request that matches. */
  loseRequest(matches: (request: ZooKeeperRequest) => boolean): Promise<ZooKeeperRequest> {
    return this.lose({ matches, delivered: false, done: deferred() });
  }

  /** Starts counting again. */
  reset(): void {
    Object.assign(this.stats, emptyStats());
  }

  async close(): Promise<void> {
    await this.cut();
  }

  private lose(loss: Loss): Promise<ZooKeeperRequest> {
    this.losses.push(loss);
    return loss.done.promise;
  }

  private newServer(): Server {
    const options = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true };
    this.server = createServer(options, (client) => void this.accept(client));
    return this.server;
  }

  private async accept(client: Socket): Promise<void> {
    this.stats.connections += 1;
    client.on('error', () => {});
    this.arriving.add(client);
    const server = await this.reachTarget(client);
    this.arriving.delete(client);
    if (client.destroyed) return void server.destroy();
    const up = this.up.lane(client, server);
    const down = this.down.lane(server, client);
    if (server.destroyed) {
      client.once('close', () => this.forget(up, down));
      return down.push('destroy');
    }
    const { stats, losses, options } = this;
    const connection = new Connection(client, server, up, down, stats, losses, options);
    this.connections.add(connection);
    connection.onClose = () => {
      this.connections.delete(connection);
      this.forget(up, down);
    };
  }

  /** A connected socket, or a destroyed one if the target refuses for longer than our patience. */
  private async reachTarget(client: Socket): Promise<Socket> {
    const deadline = performance.now() + (this.options.patience ?? 0);
    for (;;) {
      const server = connect({ ...this.target, allowHalfOpen: true, noDelay: true });
      const reached = await once(server, 'connect').then(
        () => true,
        () => false,
      );
      if (reached || client.destroyed || performance.now() >= deadline) return server;
      await sleep(10);
    }
  }

  private forget(up: Lane, down: Lane): void {
    this.up.forget(up);
    this.down.forget(down);
  }
}

interface Loss {
  readonly matches: (request: ZooKeeperRequest) => boolean;
  readonly delivered: boolean;
  readonly done: Deferred<ZooKeeperRequest>;
}

/** One direction of all connections of a proxy. */
class Direction {
  private readonly lanes = new Set<Lane>();
  private latency = 0;
  private held = false;

  /** Lets each byte arrive that much later. */
  delay(milliseconds: number): void {
    this.latency = milliseconds;
  }

  /** Holds all bytes, and the news that a side has closed its connection. */
  freeze(): void {
    this.held = true;
  }

  thaw(): void {
    this.held = false;
    for (const lane of this.lanes) lane.flush();
  }

  get frozen(): boolean {
    return this.held;
  }

  get latencyNow(): number {
    return this.latency;
  }

  lane(source: Socket, sink: Socket): Lane {
    const lane = new Lane(this, source, sink);
    this.lanes.add(lane);
    return lane;
  }

  forget(lane: Lane): void {
    this.lanes.delete(lane);
    lane.drop();
  }
}

type Item = Buffer | 'end' | 'destroy';

/** Above this a lane stops reading, and the sender feels it as it would on a real network. */
const HELD_BYTES = 1024 * 1024;

/** One direction of one connection: what was read and may not be written yet, in order. */
class Lane {
  private queue: { item: Item; due: number }[] = [];
  private size = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly direction: Direction,
    private readonly source: Socket,
    private readonly sink: Socket,
  ) {
    sink.on('drain', () => this.flush());
  }

  push(item: Item): void {
    this.queue.push({ item, due: performance.now() + this.direction.latencyNow });
    this.size += sizeOf(item);
    if (this.size > HELD_BYTES) this.source.pause();
    this.flush();
  }

  flush(): void {
    clearTimeout(this.timer);
    while (!this.direction.frozen && !this.sink.writableNeedDrain) {
      const [head] = this.queue;
      if (head === undefined) break;
      const wait = head.due - performance.now();
      if (wait > 0) {
        this.timer = setTimeout(() => this.flush(), Math.ceil(wait));
        break;
      }
      this.queue.shift();
      this.size -= sizeOf(head.item);
      this.deliver(head.item);
    }
    if (this.size <= HELD_BYTES) this.source.resume();
  }

  drop(): void {
    clearTimeout(this.timer);
    this.queue = [];
    this.size = 0;
  }

  private deliver(item: Item): void {
    if (item === 'destroy') this.sink.destroy();
    else if (this.sink.destroyed || this.sink.writableEnded) return;
    else if (item === 'end') this.sink.end();
    else this.sink.write(item);
  }
}

class Connection {
  onClose: () => void = () => {};
  private readonly requests = new FrameSplitter();
  private readonly replies = new FrameSplitter();
  private sawRequest = false;
  private sawReply = false;
  private lost: { request: ZooKeeperRequest; done: Deferred<ZooKeeperRequest> } | undefined;
  private closed = 0;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly up: Lane,
    private readonly down: Lane,
    private readonly stats: TcpProxyStats,
    private readonly losses: Loss[],
    private readonly options: TcpProxyOptions,
  ) {
    this.relay(client, up, (chunk) => this.onUp(chunk));
    this.relay(server, down, (chunk) => this.onDown(chunk));
  }

  destroy(): void {
    this.up.drop();
    this.down.drop();
    this.client.destroy();
    this.server.destroy();
  }

  private relay(source: Socket, lane: Lane, onData: (chunk: Buffer) => void): void {
    source.on('data', onData);
    source.on('end', () => lane.push('end'));
    // Every error is followed by `close`, which is what the other side gets to see.
    source.on('error', () => {});
    source.on('close', () => {
      lane.push('destroy');
      this.closed += 1;
      if (this.closed < 2) return;
      this.lost?.done.resolve(this.lost.request);
      this.onClose();
    });
    source.resume();
  }

  private onUp(raw: Buffer): void {
    if (this.lost !== undefined) return;
    const chunk = this.options.rewriteUp?.(raw) ?? raw;
    this.stats.bytesUp += chunk.length;
    for (const { body, start, end } of this.requests.push(chunk)) {
      const request = toRequest(body, !this.sawRequest);
      this.sawRequest = true;
      if (request === undefined) continue;
      const { requests } = this.stats;
      requests.set(request.opcode, (requests.get(request.opcode) ?? 0) + 1);
      const index = this.losses.findIndex((loss) => loss.matches(request));
      const [loss] = index < 0 ? [] : this.losses.splice(index, 1);
      if (loss !== undefined) return this.loseOne(loss, request, chunk, start, end);
    }
    this.up.push(chunk);
  }

  private loseOne(
    { delivered, done }: Loss,
    request: ZooKeeperRequest,
    chunk: Buffer,
    start: number,
    end: number,
  ): void {
    this.lost = { request, done };
    // Requests before this one in the same chunk are not the ones to lose.
    this.up.push(chunk.subarray(0, delivered ? end : Math.max(0, start)));
    if (!delivered) this.client.destroy();
  }

  private onDown(chunk: Buffer): void {
    this.stats.bytesDown += chunk.length;
    for (const { body } of this.replies.push(chunk)) {
      const isFirst = !this.sawReply;
      this.sawReply = true;
      const xid = isFirst || body.length < 4 ? 0 : body.readInt32BE(0);
      if (xid === NOTIFICATION_XID) this.stats.notifications += 1;
      else this.stats.replies += 1;
      // The answer proves that the request took effect: now its client may learn that it is cut off.
      if (this.lost !== undefined && xid === this.lost.request.xid) return this.destroy();
    }
    if (this.lost === undefined) this.down.push(chunk);
  }
}

function sizeOf(item: Item): number {
  return typeof item === 'string' ? 0 : item.length;
}

function emptyStats(): TcpProxyStats {
  return {
    connections: 0,
    requests: new Map(),
    replies: 0,
    notifications: 0,
    bytesUp: 0,
    bytesDown: 0,
  };
}

function toTarget(target: string | number): { host: string; port: number } {
  if (typeof target === 'number') return { host: LOOPBACK, port: target };
  const colon = target.lastIndexOf(':');
  return { host: target.slice(0, colon), port: Number(target.slice(colon + 1)) };
}
