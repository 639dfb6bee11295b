import { ANY_VERSION, type CreateMode, type NodeSnapshot, type NodeStat } from '../registry.js';
import {
  type Callback,
  ClientState,
  CreateFlag,
  type NativeAcl,
  type NativeClient,
  type NativeRequests,
  type NativeStat,
} from './zookeeper-client.js';
import { Code, failedWith, RequestFailure } from './zookeeper-errors.js';

const FLAGS: Record<CreateMode, number> = {
  persistent: CreateFlag.PERSISTENT,
  ephemeral: CreateFlag.EPHEMERAL,
  'ephemeral-sequential': CreateFlag.EPHEMERAL_SEQUENTIAL,
};

/**
 * The requests of one native client as promises that reject with `RequestFailure`. They are sent when
 * called, so the order of the calls is the order in which the store sees them.
 */
export class ZooKeeperCalls {
  readonly #requests: NativeRequests;

  constructor(
    private readonly client: NativeClient,
    /** Told when the connection turns out to be broken: the native client keeps that to itself. */
    private readonly onBroken: () => void,
  ) {
    this.#requests = client.native ?? client;
  }

  async create(path: string, data: Buffer, mode: CreateMode): Promise<string> {
    const [created] = await this.#answerOf<[string]>((reply) =>
      this.#requests.a_create(path, data, FLAGS[mode], reply),
    );
    return created;
  }

  async get(path: string, watch: boolean): Promise<NodeSnapshot> {
    const [stat, data] = await this.#answerOf<[NativeStat, Buffer | null]>((reply) =>
      this.#requests.a_get(path, watch, reply),
    );
    return { data: data ?? Buffer.alloc(0), stat: toNodeStat(stat) };
  }

  async set(path: string, data: Buffer, version: number): Promise<NodeStat> {
    const [stat] = await this.#answerOf<[NativeStat]>((reply) =>
      this.#requests.a_set(path, data, version, reply),
    );
    return toNodeStat(stat);
  }

  async delete(path: string, version: number): Promise<void> {
    // oxlint-disable-next-line no-underscore-dangle -- the name the package gave it
    await this.#answerOf((reply) => this.#requests.a_delete_(path, version, reply));
  }

  /** The names, sorted. */
  async children(path: string, watch: boolean): Promise<readonly string[]> {
    const [names] = await this.#answerOf<[string[]]>((reply) =>
      this.#requests.a_get_children(path, watch, reply),
    );
    return names.toSorted();
  }

  async exists(path: string, watch: boolean): Promise<NodeStat | undefined> {
    try {
      const [stat] = await this.#answerOf<[NativeStat]>((reply) =>
        this.#requests.a_exists(path, watch, reply),
      );
      return toNodeStat(stat);
    } catch (error) {
      if (failedWith(error, Code.NO_NODE)) return undefined;
      throw error;
    }
  }

  async sync(path: string): Promise<void> {
    await this.#answerOf((reply) => this.#requests.a_sync(path, reply));
  }

  async getAcl(path: string): Promise<readonly NativeAcl[]> {
    const [acl] = await this.#answerOf<[NativeAcl[]]>((reply) =>
      this.client.a_get_acl(path, reply),
    );
    return acl;
  }

  async setAcl(path: string, acl: readonly NativeAcl[]): Promise<void> {
    await this.#answerOf((reply) => this.client.a_set_acl(path, ANY_VERSION, acl, reply));
  }

  #answerOf<T extends unknown[]>(send: (reply: Callback<T>) => number): Promise<T> {
    return new Promise((resolve, reject) => {
      const refusal = send((rc, _message, ...values) => {
        if (rc === Code.OK) resolve(values);
        else reject(new RequestFailure(rc, true));
      });
      // Refused by the client itself: the callback never comes.
      if (refusal !== Code.OK) reject(new RequestFailure(refusal, false));
      // A failed write closes the socket without an event, and the answers would come much later.
      if (this.client.state !== ClientState.CONNECTED) this.onBroken();
    });
  }
}

/**
 * The binding hands transaction ids over as doubles, so they are exact below 2^53 only. As their upper
 * half counts the elections of a leader, that is for the first two million elections of an ensemble.
 */
function toNodeStat(stat: NativeStat): NodeStat {
  return {
    createdId: BigInt(stat.czxid),
    modifiedId: BigInt(stat.mzxid),
    version: stat.version,
    owner: stat.ephemeralOwner === '0' ? undefined : stat.ephemeralOwner,
    childCount: stat.numChildren,
    childChanges: stat.cversion,
  };
}
