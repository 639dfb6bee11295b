import { TcpProxy } from '../test/kit/tcp-proxy.js';
import { FrameSplitter, OpCode } from '../test/kit/zookeeper-protocol.js';
import { sum } from './statistics.js';

/** A ping of a session and its answer, with their lengths. */
const PING_BYTES = 12 + 20;

/** Requests that begin with the path of the node. */
const NAMING_ONE = new Set<number>([OpCode.setData, OpCode.getData, OpCode.exists]);

/** What went over the wire between an instance and its server so far. */
export interface Traffic {
  /** Without the pings of the session. */
  readonly requests: number;
  readonly renewals: number;
  /** Requests that belong to the renewals: each write, and the looks that are sent right behind it. */
  readonly ofRenewals: number;
  /** Without the pings of the session. */
  readonly bytes: number;
}

/** A proxy that counts what an instance asks for, and tells the renewals of its lease from the rest. */
export class TrafficMeter {
  readonly #frames = new FrameSplitter();
  #renewals = 0;
  #ofRenewals = 0;
  /** What a renewal looks at and has not looked at yet. */
  #looks: readonly string[] = [];

  private constructor(readonly proxy: TcpProxy) {}

  static async start(target: string): Promise<TrafficMeter> {
    const rewriteUp = (chunk: Buffer): Buffer => {
      meter.#see(chunk);
      return chunk;
    };
    const meter: TrafficMeter = new TrafficMeter(await TcpProxy.start({ target, rewriteUp }));
    return meter;
  }

  get traffic(): Traffic {
    const { requests, bytesUp, bytesDown } = this.proxy.stats;
    const pings = requests.get(OpCode.ping) ?? 0;
    const all = sum([...requests.values()]);
    return {
      requests: all - pings,
      renewals: this.#renewals,
      ofRenewals: this.#ofRenewals,
      bytes: bytesUp + bytesDown - pings * PING_BYTES,
    };
  }

  #see(chunk: Buffer): void {
    for (const { body } of this.#frames.push(chunk)) {
      const opcode = body.length < 8 ? undefined : body.readInt32BE(4);
      if (opcode === OpCode.ping) continue;
      const path = NAMING_ONE.has(opcode ?? NaN) ? pathIn(body) : '';
      if (opcode === OpCode.setData && path.includes('/leases/')) {
        this.#renewals += 1;
        this.#ofRenewals += 1;
        this.#looks = ['/instances/', '/latch/'];
        continue;
      }
      const look = this.#looks.findIndex((part) => path.includes(part));
      if (look >= 0) this.#ofRenewals += 1;
      // They follow each other without anything in between.
      this.#looks = look >= 0 ? this.#looks.slice(look + 1) : [];
    }
  }
}

/** Behind xid and opcode. */
function pathIn(body: Buffer): string {
  if (body.length < 12) return '';
  return body.toString('utf8', 12, 12 + body.readInt32BE(8));
}
