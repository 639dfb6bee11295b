import type { Observable, Subscription } from 'rxjs';
import type {
  OwnersChange,
  Shard,
  ShardAssignment,
  ShardingStatus,
  ShardOwner,
} from '../interfaces/sharding-values.interface.js';
import type { Environment, Timer } from '../registry/environment.js';
import type { Registry, Session } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { AssignmentStream } from './assignment-stream.js';
import { endsWithin } from './async.js';
import { ConfigStore } from './config-store.js';
import {
  ConfigMismatchError,
  DuplicateInstanceError,
  ShardingClosedError,
} from './coordinator.errors.js';
import type { CoordinatorHooks, CoordinatorOptions } from './coordinator.types.js';
import { Keyspace } from './keyspace.js';
import { Leadership } from './leadership.js';
import { Owners } from './owners.js';
import { Participation, type ProcessParts } from './participation.js';
import { Readiness } from './readiness.js';
import { RebalanceHooks } from './rebalance-hooks.js';
import { requestReshard } from './reshard.js';
import { isShutOut } from './roster.js';
import { Shards } from './shards.js';

/** What is left for the last writes when draining has taken all of its time. */
const FAREWELL = 2_000;
/** Between attempts to take part after an unexpected failure. */
const RETRY_DELAY = 1_000;

const NOTHING = { items: [], added: [], removed: [], tokens: new Map<number, bigint>() };

/**
 * One instance of a group: takes part in every session that the registry makes, one registration after
 * the other, and answers what is held now. Everything protocol is in the parts; this is their frame.
 */
export class Coordinator {
  readonly #parts: ProcessParts;
  readonly #readiness: Readiness;
  readonly #owners = new Owners(() => this.#participation?.plan);
  #participation: Participation | undefined;
  #sessions: Subscription | undefined;
  #started: Promise<void> | undefined;
  #isConfigured = false;
  #isDrained = false;
  #isClosed = false;
  #stopped: Promise<void> | undefined;
  #retry: Timer | undefined;
  #wasTimed = true;
  #highestEpoch = 0;

  constructor(
    registry: Registry,
    options: CoordinatorOptions,
    hooks: CoordinatorHooks,
    environment: Environment,
  ) {
    this.#readiness = new Readiness(environment.clock, () => this.status);
    const keyspace = new Keyspace(options.namespace);
    const shards = new Shards(environment, hooks, options.drainTimeout);
    this.#parts = {
      registry,
      environment,
      options,
      keyspace,
      config: new ConfigStore(registry, environment, keyspace.config, options),
      shards,
      assignment: new AssignmentStream(shards),
      rebalances: new RebalanceHooks(environment, hooks, options.drainTimeout),
      leadership: new Leadership(environment, hooks, options.drainTimeout),
    };
  }

  get instanceId(): string {
    return this.#parts.options.instance.id;
  }

  // What is held now. Each of these looks at the lease's deadline when it is asked.

  owns(item: number): boolean {
    return this.#parts.shards.get(item)?.valid ?? false;
  }

  get items(): readonly number[] {
    return this.#isLeaseValid ? this.#parts.assignment.items : [];
  }

  token(item: number): bigint | undefined {
    return this.shard(item)?.token;
  }

  shard(item: number): Shard | undefined {
    const holding = this.#parts.shards.get(item);
    return holding?.valid ? holding : undefined;
  }

  get assignment(): ShardAssignment {
    const { current } = this.#parts.assignment;
    return current.items.length === 0 || this.#isLeaseValid ? current : { ...current, ...NOTHING };
  }

  get assignment$(): Observable<ShardAssignment> {
    return this.#parts.assignment.changes$;
  }

  get isLeader(): boolean {
    return this.#parts.leadership.isLeader;
  }

  get leadership$(): Observable<boolean> {
    return this.#parts.leadership.changes$;
  }

  // What the whole group does, by the local copy of the plan

  /** 0 until the first plan. */
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
    const participation = this.#participation;
    if (!participation) return 'connecting';
    if (participation.lease.hasLapsed) return 'lapsed';
    if (this.#parts.registry.session.state !== 'connected') return 'suspended';
    if (this.#isDrained) return 'drained';
    if (!participation.isReady) return 'connecting';
    return this.#isShutOut ? 'drained' : 'ready';
  }

  get status$(): Observable<ShardingStatus> {
    return this.#readiness.status$;
  }

  // What can be asked for

  /**
   * Connects and takes part. With `startup.wait` it resolves when ready; without it, when the store was
   * reached, or with a warning when it was not: then everything follows once it can be.
   */
  start(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new ShardingClosedError());
    this.#started ??= this.#start();
    return this.#started;
  }

  whenReady(options: { timeout?: number; signal?: AbortSignal } = {}): Promise<void> {
    return this.#readiness.whenReady(options);
  }

  /**
   * Gives everything up in good order and stays alive, until `resume`. While the store is out of reach it
   * resolves after the drainTimeout all the same: nothing is held by then, and the group hears of it later.
   */
  async drain(): Promise<void> {
    if (this.#isClosed) throw new ShardingClosedError();
    this.#isDrained = true;
    await this.#soon('drain()', this.#drain(this.#participation));
  }

  async resume(): Promise<void> {
    if (this.#isClosed) throw new ShardingClosedError();
    this.#isDrained = false;
    await this.#soon('resume()', this.#participation?.resume());
  }

  /** Asks the leader for a reshard; resolves when the request is stored. */
  async reshard(): Promise<void> {
    await requestReshard(this.#parts.registry, this.#parts.keyspace.necessary);
  }

  /** Leaves in good order, within the drainTimeout. The registry stays open: it is its owner's. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #drain(participation: Participation | undefined): Promise<void> {
    await participation?.drain();
    // Asked to go on while it was still draining: the last word counts.
    if (!this.#isDrained) await participation?.resume();
  }

  /** What the store could not be told in time is told in the background, as soon as it can be. */
  async #soon(call: string, work: Promise<void> = Promise.resolve()): Promise<void> {
    const { environment, options } = this.#parts;
    const bound = options.drainTimeout + FAREWELL;
    if (await endsWithin(environment.clock, work, bound)) await work;
    else
      environment.log.warn(`The group has not heard of ${call} after ${bound} ms; it will later`);
    this.#readiness.update();
  }

  async #start(): Promise<void> {
    const { registry, options, environment } = this.#parts;
    this.#sessions = registry.session$.subscribe((session) => this.#regard(session));
    await this.#readiness.start({
      registry,
      startup: options.startup,
      log: environment.log,
      later: 'its shards come later',
      stop: () => this.stop(),
    });
  }

  async #stop(): Promise<void> {
    const { environment, options, config, assignment, leadership } = this.#parts;
    this.#sessions?.unsubscribe();
    this.#retry?.cancel();
    const participation = this.#participation;
    await endsWithin(
      environment.clock,
      this.#leave(participation),
      options.drainTimeout + FAREWELL,
    );
    await participation?.end('shutdown');
    config.close();
    this.#isClosed = true;
    this.#readiness.update();
    assignment.complete();
    leadership.complete();
    this.#owners.complete();
    this.#readiness.complete();
  }

  /** Also what an earlier registration left behind comes to its end, where the last one is gone already. */
  async #leave(participation: Participation | undefined): Promise<void> {
    const { environment, shards, leadership } = this.#parts;
    try {
      await participation?.leave();
    } catch (error) {
      environment.log.warn(`Leaving was not completed: ${(error as Error).message}`);
    }
    await Promise.all([shards.drained(), leadership.end()]);
  }

  /** Whether the shared configuration lets this instance hold nothing. */
  get #isShutOut(): boolean {
    const { config } = this.#parts.config;
    return config !== undefined && isShutOut(this.instanceId, config);
  }

  get #isLeaseValid(): boolean {
    return this.#participation?.lease.isValid ?? false;
  }

  /** Follows the registry's sessions: a new one means a new registration. */
  #regard(session: Session): void {
    if (session.timed && !this.#wasTimed) this.#participation?.lease.startTiming();
    this.#wasTimed = session.timed;
    const { id } = session;
    if (session.state === 'connected' && id !== undefined) {
      if (this.#participation?.session !== id) this.#takePart({ ...session, id });
    } else if (session.state === 'lost' || session.state === 'closed') {
      this.#endParticipation('lease-lost');
    }
    this.#readiness.update();
  }

  #takePart(session: Session & { readonly id: string }): void {
    // Whoever is evicted while it leaves is out, as it wanted to be.
    if (this.#stopped) return;
    this.#endParticipation('lease-lost');
    const known = { isDrained: this.#isDrained, highestEpoch: this.#highestEpoch };
    const participation = new Participation(this.#parts, session, known, {
      changed: () => this.#changed(),
      evicted: () => {
        this.#endParticipation('evicted');
        this.#takePart(session);
      },
    });
    this.#participation = participation;
    this.#join(participation).catch((error: unknown) => this.#joinFailed(session, error));
  }

  async #join(participation: Participation): Promise<void> {
    const { config, options } = this.#parts;
    const { session } = participation;
    if (!this.#isConfigured) {
      await config.open(true, { session });
      this.#isConfigured = true;
      this.#readiness.admit();
      config.config$.subscribe(() => this.#readiness.update());
    }
    await participation.run(options.startup.wait ? this.#patience() : Infinity);
  }

  /** How long to wait for another live session with the same id. */
  #patience(): number {
    return 2 * this.#parts.registry.session.timeout + 10_000;
  }

  #joinFailed(session: Session & { readonly id: string }, error: unknown): void {
    const code = registryErrorCode(error);
    if (this.#stopped || code === 'SESSION_LOST' || code === 'CLOSED' || code === 'ABORTED') return;
    const { environment } = this.#parts;
    const isFatal =
      error instanceof DuplicateInstanceError ||
      error instanceof ConfigMismatchError ||
      code === 'NO_AUTH' ||
      code === 'INVALID';
    if (isFatal) this.#readiness.fail(error as Error);
    environment.log.error(
      `This instance cannot take part: ${(error as Error).message}`,
      (error as Error).stack,
    );
    this.#retry?.cancel();
    this.#retry = environment.clock.setTimer(() => {
      if (this.#parts.registry.session.id === session.id) this.#takePart(session);
    }, RETRY_DELAY);
  }

  #endParticipation(reason: 'lease-lost' | 'evicted'): void {
    const participation = this.#participation;
    this.#participation = undefined;
    void participation?.end(reason);
  }

  #changed(): void {
    this.#highestEpoch = Math.max(this.#highestEpoch, this.#participation?.plan?.epoch ?? 0);
    this.#readiness.update();
    this.#owners.update();
  }
}
