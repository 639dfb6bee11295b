import { TcpProxy } from './tcp-proxy.js';
import { isWrite, OpCode, type ZooKeeperRequest } from './zookeeper-protocol.js';
import type { ZooKeeperServer } from './zookeeper-server.js';

const READS = new Set<number>([
  OpCode.getData,
  OpCode.exists,
  OpCode.getChildren,
  OpCode.getChildren2,
]);
const NO_REQUESTS = new Set<number>([OpCode.createSession, OpCode.closeSession, OpCode.ping]);

/** One client's way to all servers, for itself alone: a proxy before each of them. */
export class ClientRoad {
  #losesNext: 'answer' | 'request' | undefined;

  private constructor(private readonly proxies: readonly TcpProxy[]) {}

  static async build(members: readonly ZooKeeperServer[]): Promise<ClientRoad> {
    const starts = members.map(({ port }) => TcpProxy.start({ target: port }));
    return new ClientRoad(await Promise.all(starts));
  }

  get connect(): string {
    return this.proxies.map(({ connect }) => connect).join(',');
  }

  async cut(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.cut()));
  }

  async heal(): Promise<void> {
    this.thaw();
    await Promise.all(this.proxies.map((proxy) => proxy.restore()));
  }

  freeze(direction: 'up' | 'down' | 'both' = 'both'): void {
    for (const { up, down } of this.proxies) {
      if (direction !== 'down') up.freeze();
      if (direction !== 'up') down.freeze();
    }
  }

  thaw(): void {
    for (const proxy of this.proxies) proxy.thaw();
  }

  delay(milliseconds: number): void {
    for (const { down } of this.proxies) down.delay(milliseconds);
  }

  loseNextAnswer(): void {
    this.#lose('answer');
  }

  loseNextRequest(): void {
    this.#lose('request');
  }

  requests(): number {
    return this.#count((opcode) => !NO_REQUESTS.has(opcode));
  }

  reads(): number {
    return this.#count((opcode) => READS.has(opcode));
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }

  /** Told to all proxies, since only one of them has the connection; the first to meet a write does it. */
  #lose(part: 'answer' | 'request'): void {
    this.#losesNext = part;
    const isNext = (request: ZooKeeperRequest): boolean => {
      if (this.#losesNext !== part || !isWrite(request)) return false;
      this.#losesNext = undefined;
      return true;
    };
    for (const proxy of this.proxies) {
      void (part === 'answer' ? proxy.loseReply(isNext) : proxy.loseRequest(isNext));
    }
  }

  #count(counts: (opcode: number) => boolean): number {
    let count = 0;
    for (const { stats } of this.proxies) {
      for (const [opcode, times] of stats.requests) if (counts(opcode)) count += times;
    }
    return count;
  }
}
