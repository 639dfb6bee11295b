/** The request types of ZooKeeper's client protocol, as far as tests and benchmarks name them. */
export const OpCode = {
  createSession: -10,
  closeSession: -11,
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  auth: 100,
  setWatches: 101,
  setWatches2: 105,
  addWatch: 106,
} as const;

const WRITES = new Set<number>([OpCode.create, OpCode.create2, OpCode.setData, OpCode.delete]);

export const isWrite = ({ opcode }: ZooKeeperRequest): boolean => WRITES.has(opcode);

/** The xid under which a server sends watch events. */
export const NOTIFICATION_XID = -1;

export interface Frame {
  /** Without the length. */
  readonly body: Buffer;
  /** Where it starts and ends in the chunk just pushed; negative if it started in an earlier one. */
  readonly start: number;
  readonly end: number;
}

const LONGEST = 16 * 1024 * 1024;

/** Cuts a stream into frames, each a length of four bytes and a body; a stream of another kind has none. */
export class FrameSplitter {
  private rest: Buffer = Buffer.alloc(0);
  private foreign = false;

  push(chunk: Buffer): Frame[] {
    if (this.foreign) return [];
    const before = this.rest.length;
    const bytes = before === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const frames: Frame[] = [];
    let start = 0;
    while (bytes.length - start >= 4) {
      const length = bytes.readInt32BE(start);
      // A four-letter word (`ruok`) reads as a length of more than a gigabyte.
      if (length < 0 || length > LONGEST) {
        this.foreign = true;
        return frames;
      }
      const end = start + 4 + length;
      if (end > bytes.length) break;
      frames.push({
        body: bytes.subarray(start + 4, end),
        start: start - before,
        end: end - before,
      });
      start = end;
    }
    this.rest = bytes.subarray(start);
    return frames;
  }
}

export interface ZooKeeperRequest {
  readonly xid: number;
  readonly opcode: number;
  /** The whole frame without its length: xid, opcode, then the request itself. */
  readonly body: Buffer;
}

/** The first frame of a connection opens a session and has no header. */
export function toRequest(body: Buffer, isFirst: boolean): ZooKeeperRequest | undefined {
  if (isFirst) return { xid: 0, opcode: OpCode.createSession, body };
  if (body.length < 8) return undefined;
  return { xid: body.readInt32BE(0), opcode: body.readInt32BE(4), body };
}
