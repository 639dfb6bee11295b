import { TcpProxy } from '../kit/tcp-proxy.js';
import { isWrite, OpCode, type ZooKeeperRequest } from '../kit/zookeeper-protocol.js';

/** A write of the protocol as it passes on the way from a member to ZooKeeper. */
export interface PassingWrite {
  readonly operation: 'create' | 'set' | 'delete';
  /** Below the namespace, such as `/sharding`. */
  readonly path: string;
  /** What is created or set. */
  readonly data: Buffer;
}

/** The way of one member to ZooKeeper, on which its writes are seen and can be lost. */
export class Road {
  private constructor(
    private readonly proxy: TcpProxy,
    private readonly namespace: string,
  ) {}

  static async build(port: number, namespace: string): Promise<Road> {
    return new Road(await TcpProxy.start({ target: port }), namespace);
  }

  get connect(): string {
    return this.proxy.connect;
  }

  /** The write never arrives, and the connection is lost with it. `onMeeting` runs at that moment. */
  async loseRequest(
    matches: (write: PassingWrite) => boolean,
    onMeeting: () => void = () => {},
  ): Promise<PassingWrite> {
    const request = await this.proxy.loseRequest(this.#watch(matches, onMeeting));
    return this.#toWrite(request)!;
  }

  /** The write takes effect, its answer is lost with the connection. `onMeeting` runs before it arrives. */
  async loseAnswer(
    matches: (write: PassingWrite) => boolean,
    onMeeting: () => void = () => {},
  ): Promise<PassingWrite> {
    const request = await this.proxy.loseReply(this.#watch(matches, onMeeting));
    return this.#toWrite(request)!;
  }

  async close(): Promise<void> {
    await this.proxy.close();
  }

  #watch(matches: (write: PassingWrite) => boolean, onMeeting: () => void) {
    return (request: ZooKeeperRequest): boolean => {
      const write = this.#toWrite(request);
      if (!write || !matches(write)) return false;
      onMeeting();
      return true;
    };
  }

  #toWrite(request: ZooKeeperRequest): PassingWrite | undefined {
    if (!isWrite(request)) return undefined;
    const { opcode, body } = request;
    const end = 12 + body.readInt32BE(8);
    const path = body.toString('utf8', 12, end).slice(this.namespace.length + 1);
    if (opcode === OpCode.delete) return { operation: 'delete', path, data: Buffer.alloc(0) };
    const data = body.subarray(end + 4, end + 4 + Math.max(0, body.readInt32BE(end)));
    return { operation: opcode === OpCode.setData ? 'set' : 'create', path, data };
  }
}
