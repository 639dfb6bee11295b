import { BehaviorSubject, type Observable, Subject } from 'rxjs';
import type {
  CoordinatorHooks,
  CoordinatorOptions,
} from '../../lib/coordinator/coordinator.types.js';
import type {
  OwnersChange,
  ReleaseReason,
  Shard,
  ShardAssignment,
  ShardingStatus,
  ShardOwner,
} from '../../lib/interfaces/sharding-values.interface.js';
import type { Environment } from '../../lib/registry/environment.js';
import type { Registry } from '../../lib/registry/registry.js';
import type { CoordinatorFactory, ShardingCoordinator } from '../../lib/sharding.coordinator.js';

interface Holding {
  readonly shard: Shard;
  readonly controller: AbortController;
  readonly worker: Promise<void> | undefined;
}

/** A coordinator that does what the test says, for specs of what stands around it. */
export class FakeCoordinator implements ShardingCoordinator {
  readonly calls: string[] = [];
  /** What `start()` gives back. */
  starting: () => Promise<void> = () => Promise.resolve();
  /** What `stop()` gives back. */
  stopping: () => Promise<void> = () => Promise.resolve();
  total = 0;
  isLeader = false;
  leaderId: string | undefined;
  status: ShardingStatus = 'connecting';
  readonly owners$ = new Subject<OwnersChange>();
  readonly #holdings = new Map<number, Holding>();
  readonly #status = new BehaviorSubject<ShardingStatus>('connecting');
  readonly #leadership = new BehaviorSubject(false);
  #office: { controller: AbortController; work: Promise<void> } | undefined;
  #token = 100n;

  constructor(
    readonly registry: Registry,
    readonly options: CoordinatorOptions,
    readonly hooks: CoordinatorHooks,
    readonly environment: Environment,
  ) {}

  // What a test makes happen

  hold(item: number): Shard {
    const controller = new AbortController();
    const shard: Shard = {
      item,
      token: (this.#token += 1n),
      total: this.total,
      parameter: undefined,
      signal: controller.signal,
      valid: true,
    };
    // The worker may ask right away what is held.
    this.#holdings.set(item, { shard, controller, worker: undefined });
    this.#holdings.set(item, { shard, controller, worker: this.hooks.shardAcquired(shard) });
    return shard;
  }

  /** Resolves when the shard may be given to somebody else. */
  async release(item: number, reason: ReleaseReason = 'rebalance'): Promise<void> {
    const { shard, controller, worker } = this.#holdings.get(item)!;
    this.#holdings.delete(item);
    controller.abort();
    await worker;
    await this.hooks.shardReleased({ item, token: shard.token, reason });
  }

  lead(term = 1n): void {
    const controller = new AbortController();
    this.isLeader = true;
    this.#leadership.next(true);
    this.#office = { controller, work: this.hooks.leader({ term, signal: controller.signal }) };
  }

  /** Resolves when somebody else may lead. */
  async resign(): Promise<void> {
    this.isLeader = false;
    this.#leadership.next(false);
    this.#office?.controller.abort();
    await this.#office?.work;
    await this.hooks.leaderLost();
  }

  // What the library asks

  get instanceId(): string {
    return this.options.instance.id;
  }

  get items(): readonly number[] {
    return [...this.#holdings.keys()].toSorted((a, b) => a - b);
  }

  owns(item: number): boolean {
    return this.#holdings.has(item);
  }

  token(item: number): bigint | undefined {
    return this.shard(item)?.token;
  }

  shard(item: number): Shard | undefined {
    return this.#holdings.get(item)?.shard;
  }

  ownerOf(item: number): ShardOwner | undefined {
    return this.owns(item) ? { instanceId: this.instanceId } : undefined;
  }

  get assignment(): ShardAssignment {
    const { items, total } = this;
    const tokens = new Map(items.map((item) => [item, this.token(item)!]));
    return { epoch: 1, total, items, added: items, removed: [], tokens };
  }

  get assignment$(): Observable<ShardAssignment> {
    return new BehaviorSubject(this.assignment);
  }

  get leadership$(): Observable<boolean> {
    return this.#leadership;
  }

  get status$(): Observable<ShardingStatus> {
    return this.#status;
  }

  start(): Promise<void> {
    return this.#called('start', this.starting);
  }

  whenReady(): Promise<void> {
    return this.#called('whenReady');
  }

  drain(): Promise<void> {
    return this.#called('drain');
  }

  resume(): Promise<void> {
    return this.#called('resume');
  }

  reshard(): Promise<void> {
    return this.#called('reshard');
  }

  stop(): Promise<void> {
    return this.#called('stop', this.stopping);
  }

  #called(call: string, answer: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    this.calls.push(call);
    return answer();
  }
}

/** Makes fakes and keeps them, in the order of their registrations. */
export class FakeCoordinators {
  readonly made: FakeCoordinator[] = [];

  constructor(private readonly prepare: (fake: FakeCoordinator) => void = () => {}) {}

  readonly make: CoordinatorFactory = (...args) => {
    const fake = new FakeCoordinator(...args);
    this.prepare(fake);
    this.made.push(fake);
    return fake;
  };

  get only(): FakeCoordinator {
    if (this.made.length !== 1) throw new Error(`there are ${this.made.length} coordinators`);
    return this.made[0]!;
  }

  /** The one of a namespace. */
  of(namespace: string): FakeCoordinator {
    const fake = this.made.find(({ options }) => options.namespace === namespace);
    if (!fake) throw new Error(`there is no coordinator for ${namespace}`);
    return fake;
  }
}
