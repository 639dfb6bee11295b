import { setTimeout as sleep } from 'node:timers/promises';
import { Coordinator } from '../lib/coordinator/coordinator.js';
import type { CoordinatorHooks, CoordinatorOptions } from '../lib/coordinator/coordinator.types.js';
import { systemEnvironment } from '../lib/registry/environment.js';
import { ANY_VERSION } from '../lib/registry/registry.js';
import { ZooKeeperRegistry } from '../lib/registry/zookeeper/index.js';
import { eventually } from '../test/kit/eventually.js';
import { uniqueNamespace } from '../test/kit/namespace.js';
import { median, now } from './statistics.js';
import { type Traffic, TrafficMeter } from './traffic.js';

export const SESSION_TIMEOUT = 4_000;
const PAUSE = 10;

export interface GroupOptions {
  readonly connect: string;
  readonly namespace: string;
  readonly total: number | 'instances';
  readonly sessionTimeout: number;
  /** Whether and how the group waits for an instance that goes. @default it does not */
  readonly rejoin?: CoordinatorOptions['rejoin'];
}

export function optionsFor(
  connect: string,
  total: number | 'instances',
  sessionTimeout = SESSION_TIMEOUT,
): GroupOptions {
  return { connect, namespace: uniqueNamespace('bench'), total, sessionTimeout };
}

export interface RoundTrips {
  readonly write: number;
  readonly read: number;
}

/** What has happened to an instance so far, and when it last did, on the clock of the machine. */
export interface Moments {
  acquired: number;
  lastAcquired: number;
  completed: number;
  lastCompleted: number;
  lastLeading: number;
  lastLeaderLost: number;
}

/** One instance with a connection of its own. It can take part again and again, each time anew. */
export class BenchInstance {
  coordinator: Coordinator;
  /** Hears of each shard that it gets. */
  onAcquired: (item: number) => void = () => {};
  readonly moments: Moments = {
    acquired: 0,
    lastAcquired: 0,
    completed: 0,
    lastCompleted: 0,
    lastLeading: 0,
    lastLeaderLost: 0,
  };

  private constructor(
    readonly id: string,
    readonly options: GroupOptions,
    readonly registry: ZooKeeperRegistry,
    private readonly meter: TrafficMeter | undefined,
  ) {
    this.coordinator = this.#newCoordinator();
  }

  /** `isCounted` puts a proxy in between, which counts what passes and costs time. */
  static async connect(
    id: string,
    options: GroupOptions,
    isCounted = false,
  ): Promise<BenchInstance> {
    const meter = isCounted ? await TrafficMeter.start(options.connect) : undefined;
    const { sessionTimeout } = options;
    const connect = meter?.proxy.connect ?? options.connect;
    const registry = new ZooKeeperRegistry({ connect, sessionTimeout }, systemEnvironment());
    await registry.connect();
    return new BenchInstance(id, options, registry, meter);
  }

  /** The time at which it began. */
  async start(): Promise<number> {
    if (this.coordinator.status === 'closed') this.coordinator = this.#newCoordinator();
    const started = now();
    await this.coordinator.start();
    return started;
  }

  /** Leaves in good order; the time at which it began to. */
  async leave(): Promise<number> {
    const left = now();
    await this.coordinator.stop();
    return left;
  }

  get traffic(): Traffic {
    return this.meter!.traffic;
  }

  /** As if its machine were gone: neither it nor the server hears anything from the other. */
  async cut(): Promise<void> {
    await this.meter!.proxy.cut();
  }

  async restore(): Promise<void> {
    await this.meter!.proxy.restore();
  }

  async close(): Promise<void> {
    await this.coordinator.stop();
    await this.registry.close();
    await this.meter?.proxy.close();
  }

  /**
   * The median round trips of a write and of a read on this very connection, each after a pause: what is
   * compared with them begins in a group at rest, too, where every thread has to be woken.
   */
  async roundTrips(rounds = 30): Promise<RoundTrips> {
    const path = `/${this.options.namespace}-probe`;
    const data = Buffer.from('what a member writes about itself is about as long as this');
    await this.registry.create(path, data, { parents: true }).catch(() => {});
    const time = async (work: () => Promise<unknown>): Promise<number> => {
      const started = now();
      await work();
      return now() - started;
    };
    const writes: number[] = [];
    const reads: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await sleep(PAUSE);
      writes.push(await time(() => this.registry.set(path, data, ANY_VERSION)));
      await sleep(PAUSE);
      reads.push(await time(() => this.registry.get(path)));
    }
    return { write: median(writes), read: median(reads) };
  }

  #newCoordinator(): Coordinator {
    const { namespace, total, rejoin = { window: 0, lends: false } } = this.options;
    return new Coordinator(
      this.registry,
      {
        namespace,
        instance: { id: this.id, ip: '127.0.0.1', pid: process.pid, weight: 1, labels: {} },
        total,
        strategy: undefined,
        strategies: {},
        onConfigMismatch: 'keep',
        lease: { duration: undefined, margin: undefined },
        startup: { wait: true, timeout: 60_000 },
        drainTimeout: 15_000,
        rebalanceDelay: 0,
        rejoin,
        seedView: false,
      },
      hooksNoting(this.moments, (item) => this.onAcquired(item)),
      systemEnvironment(),
    );
  }
}

function hooksNoting(moments: Moments, onAcquired: (item: number) => void): CoordinatorHooks {
  return {
    leader: async () => void (moments.lastLeading = now()),
    leaderLost: async () => void (moments.lastLeaderLost = now()),
    shardingStarted: async () => {},
    shardingCompleted: async () => {
      moments.completed += 1;
      moments.lastCompleted = now();
    },
    shardAcquired: ({ item }) => {
      moments.acquired += 1;
      moments.lastAcquired = now();
      onAcquired(item);
      return undefined;
    },
    shardReleased: () => undefined,
  };
}

/** A group in this process that has come to rest. */
export async function groupOf(
  size: number,
  options: GroupOptions,
  isCounted = false,
): Promise<BenchInstance[]> {
  const group: BenchInstance[] = [];
  for (let index = 0; index < size; index++) {
    const instance = await BenchInstance.connect(`i${index}`, options, isCounted);
    await instance.start();
    group.push(instance);
  }
  await settled(group);
  return group;
}

/** Everyone is ready, all is owned but for so many, and one of them leads. */
export async function settled(group: readonly BenchInstance[], unowned = 0): Promise<void> {
  await eventually(
    () => {
      const coordinators = group.map(({ coordinator }) => coordinator);
      const items = coordinators.reduce((sum, { assignment }) => sum + assignment.items.length, 0);
      return (
        coordinators.every(({ status }) => status === 'ready') &&
        coordinators.filter(({ isLeader }) => isLeader).length === 1 &&
        items === coordinators[0]!.total - unowned
      );
    },
    { label: 'a settled group', timeout: 60_000, interval: 5 },
  );
}

export async function closeAll(group: readonly BenchInstance[]): Promise<void> {
  for (const instance of group) await instance.close();
}
