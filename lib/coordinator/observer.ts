import { BehaviorSubject, type Observable, Subscription } from 'rxjs';
import type {
  OwnersChange,
  ShardAssignment,
  ShardingStatus,
  ShardOwner,
} from '../interfaces/sharding-values.interface.js';
import type { Environment } from '../registry/environment.js';
import type { Registry } from '../registry/registry.js';
import type { Coordinator } from './coordinator.js';
import { ObserverHoldsNothingError, ShardingClosedError } from './coordinator.errors.js';
import type { ObserverOptions } from './coordinator.types.js';
import { Keyspace } from './keyspace.js';
import { lastingWatch } from './lasting-watch.js';
import { Owners } from './owners.js';
import type { Plan } from './plan.js';
import { type PlanFinding, readPlan } from './plan-store.js';
import { Readiness } from './readiness.js';
import { requestReshard } from './reshard.js';

const NOTHING: ShardAssignment = {
  epoch: 0,
  total: 0,
  items: [],
  added: [],
  removed: [],
  tokens: new Map(),
};

/**
 * Sees who owns what and takes no part: no registration, no lease, no candidacy. It writes nothing to
 * the store, so that whatever becomes of it, the group does not notice.
 */
export class Observer implements Pick<Coordinator, keyof Coordinator> {
  readonly #keyspace: Keyspace;
  readonly #readiness: Readiness;
  readonly #owners = new Owners(() => this.#plan);
  readonly #assignment = new BehaviorSubject(NOTHING);
  readonly #leadership = new BehaviorSubject(false);
  readonly #subscriptions = new Subscription();
  #plan: Plan | undefined;
  #started: Promise<void> | undefined;
  #isClosed = false;

  constructor(
    private readonly registry: Registry,
    private readonly options: ObserverOptions,
    private readonly environment: Environment,
  ) {
    this.#keyspace = new Keyspace(options.namespace);
    this.#readiness = new Readiness(environment.clock, () => this.status);
  }

  get instanceId(): string {
    return this.options.instance.id;
  }

  // What is held: nothing, for ever

  owns(): boolean {
    return false;
  }

  get items(): readonly number[] {
    return NOTHING.items;
  }

  token(): undefined {
    return undefined;
  }

  shard(): undefined {
    return undefined;
  }

  get assignment(): ShardAssignment {
    return NOTHING;
  }

  get assignment$(): Observable<ShardAssignment> {
    return this.#assignment.asObservable();
  }

  get isLeader(): boolean {
    return false;
  }

  get leadership$(): Observable<boolean> {
    return this.#leadership.asObservable();
  }

  // What the whole group does, by the local copy of the plan

  get total(): number {
    return this.#owners.total;
  }

  ownerOf(item: number): ShardOwner | undefined {
    return this.#owners.of(item);
  }

  get owners$(): Observable<OwnersChange> {
    return this.#owners.changes$;
  }

  get leaderId(): string | undefined {
    return this.#owners.leaderId;
  }

  // How far it has come

  get status(): ShardingStatus {
    if (this.#isClosed) return 'closed';
    if (!this.#plan) return 'connecting';
    return this.registry.session.state === 'connected' ? 'ready' : 'suspended';
  }

  get status$(): Observable<ShardingStatus> {
    return this.#readiness.status$;
  }

  // What can be asked for

  /** Connects and looks; with `startup.wait` it resolves when a plan was seen. */
  start(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new ShardingClosedError());
    this.#started ??= this.#start();
    return this.#started;
  }

  whenReady(options: { timeout?: number; signal?: AbortSignal } = {}): Promise<void> {
    return this.#readiness.whenReady(options);
  }

  drain(): Promise<void> {
    return Promise.reject(new ObserverHoldsNothingError('drain()'));
  }

  resume(): Promise<void> {
    return Promise.reject(new ObserverHoldsNothingError('resume()'));
  }

  /** Asks the leader for a reshard, as anybody may: the one thing that an observer ever writes. */
  reshard(): Promise<void> {
    return requestReshard(this.registry, this.#keyspace.necessary);
  }

  /** There is nothing to leave. The registry stays open: it is its owner's. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#subscriptions.unsubscribe();
    this.#readiness.update();
    this.#readiness.complete();
    this.#owners.complete();
    this.#assignment.complete();
    this.#leadership.complete();
  }

  async #start(): Promise<void> {
    const { registry, options, environment } = this;
    this.#subscriptions.add(registry.session$.subscribe(() => this.#readiness.update()));
    this.#watch();
    await this.#readiness.start({
      registry,
      startup: options.startup,
      log: environment.log,
      later: 'who owns what is known later',
      stop: () => this.stop(),
    });
  }

  /** One live view for all sessions: it catches up by itself, and never goes back in time. */
  #watch(): void {
    const { registry, environment } = this;
    const view = lastingWatch(registry, environment.clock, this.#keyspace.plan, (error) =>
      this.#denied(error),
    ).subscribe((node) => this.#regard(readPlan(node)));
    this.#subscriptions.add(view);
  }

  #regard(found: PlanFinding): void {
    switch (found.kind) {
      case 'plan':
        this.#plan = found.plan;
        break;
      case 'absent':
        // No plan means that nothing is held.
        this.#plan &&= withoutOwners(this.#plan);
        break;
      case 'unreadable':
        // What was known stands: members answer for themselves, so a stale hint is better than none.
        this.environment.log.error(found.reason);
    }
    this.#readiness.admit();
    this.#readiness.update();
    this.#owners.update();
  }

  #denied(error: Error): void {
    this.environment.log.error(`This observer cannot see the plan: ${error.message}`, error.stack);
    this.#readiness.fail(error);
  }
}

function withoutOwners(plan: Plan): Plan {
  const owners = new Int32Array(plan.total).fill(-1);
  return { ...plan, office: { ...plan.office, lease: 0 }, members: [], owners };
}
