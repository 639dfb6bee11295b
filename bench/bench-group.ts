import { Coordinator } from '../lib/coordinator/coordinator.js';
import type { CoordinatorHooks } from '../lib/coordinator/coordinator.types.js';
import { systemEnvironment } from '../lib/registry/environment.js';
import { ANY_VERSION } from '../lib/registry/registry.js';
import { ZooKeeperRegistry } from '../lib/registry/zookeeper/index.js';
import { TcpProxy } from '../test/kit/tcp-proxy.js';
import { OpCode } from '../test/kit/zookeeper-protocol.js';
import { median } from './table.js';

export interface GroupOptions {
  readonly connect: string;
  readonly namespace: string;
  readonly total: number | 'instances';
  readonly sessionTimeout: number;
  /** Without a proxy in between that counts requests. */
  readonly isDirect?: boolean;
}

export type MomentKind = 'completed' | 'acquired' | 'leader' | 'leader-lost';

/** One instance with a connection of its own, whose requests are counted unless it is direct. */
export class BenchInstance {
  /** Told whenever something happens to it. */
  onMoment: (kind: MomentKind) => void = () => {};

  private constructor(
    readonly id: string,
    readonly proxy: TcpProxy | undefined,
    readonly registry: ZooKeeperRegistry,
    readonly coordinator: Coordinator,
  ) {}

  static async connect(id: string, options: GroupOptions): Promise<BenchInstance> {
    const { namespace, total, sessionTimeout, isDirect = false } = options;
    const proxy = isDirect ? undefined : await TcpProxy.start({ target: options.connect });
    const connect = proxy?.connect ?? options.connect;
    const environment = systemEnvironment();
    const registry = new ZooKeeperRegistry({ connect, sessionTimeout }, environment);
    const holder: { instance?: BenchInstance } = {};
    const hooks = hooksFor((kind) => holder.instance?.onMoment(kind));
    const coordinator = new Coordinator(
      registry,
      {
        namespace,
        instance: { id, ip: '127.0.0.1', pid: process.pid, weight: 1, labels: {} },
        total,
        strategy: undefined,
        onConfigMismatch: 'keep',
        lease: { duration: undefined, margin: undefined },
        startup: { wait: true, timeout: 60_000 },
        drainTimeout: 15_000,
        rebalanceDelay: 0,
        seedView: false,
      },
      hooks,
      environment,
    );
    await registry.connect();
    const instance = new BenchInstance(id, proxy, registry, coordinator);
    holder.instance = instance;
    return instance;
  }

  /** Requests so far, without the pings that keep a session alive. */
  get requests(): number {
    let count = 0;
    for (const [opcode, times] of this.proxy?.stats.requests ?? []) {
      if (opcode !== OpCode.ping) count += times;
    }
    return count;
  }

  async close(): Promise<void> {
    await this.coordinator.stop();
    await this.registry.close();
    await this.proxy?.close();
  }

  /** The median round trips of a write and of a read on this very connection. */
  async roundTrips(path: string, rounds = 200): Promise<{ write: number; read: number }> {
    const data = Buffer.from('what a member writes about itself is about as long as this');
    await this.registry.create(path, data, { parents: true }).catch(() => {});
    const time = async (work: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await work();
      return performance.now() - started;
    };
    const writes: number[] = [];
    const reads: number[] = [];
    for (let round = 0; round < rounds; round++) {
      writes.push(await time(() => this.registry.set(path, data, ANY_VERSION)));
      reads.push(await time(() => this.registry.get(path)));
    }
    return { write: median(writes), read: median(reads) };
  }
}

function hooksFor(tell: (kind: MomentKind) => void): CoordinatorHooks {
  return {
    leader: async () => tell('leader'),
    leaderLost: async () => tell('leader-lost'),
    shardingStarted: async () => {},
    shardingCompleted: async () => tell('completed'),
    shardAcquired: async () => tell('acquired'),
    shardReleased: async () => {},
  };
}
