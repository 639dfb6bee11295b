import { BehaviorSubject, filter, firstValueFrom, take, takeUntil } from 'rxjs';
import type { ReleaseReason } from '../interfaces/sharding-values.interface.js';
import type { Environment, Timer } from '../registry/environment.js';
import type { Registry, Session } from '../registry/registry.js';
import { aborted$, newScope, WakeableLoop } from './async.js';
import type { AssignmentStream } from './assignment-stream.js';
import type { ConfigStore } from './config-store.js';
import type { CoordinatorOptions } from './coordinator.types.js';
import { Election } from './election.js';
import { Follower } from './follower.js';
import type { Keyspace } from './keyspace.js';
import { Leader } from './leader.js';
import type { Leadership } from './leadership.js';
import { Lease } from './lease.js';
import { LeaseKeeper } from './lease-keeper.js';
import { Membership } from './membership.js';
import type { Plan } from './plan.js';
import { type PlanState, PlanStore } from './plan-store.js';
import type { RebalanceHooks } from './rebalance-hooks.js';
import type { Shards } from './shards.js';

/** What outlives a registration: it belongs to the process. */
export interface ProcessParts {
  readonly registry: Registry;
  readonly environment: Environment;
  readonly options: CoordinatorOptions;
  readonly keyspace: Keyspace;
  readonly config: ConfigStore;
  readonly shards: Shards;
  readonly assignment: AssignmentStream;
  readonly rebalances: RebalanceHooks;
  readonly leadership: Leadership;
}

export interface ParticipationListener {
  /** Anything that a status is made of has changed. */
  changed(): void;
  /** The registration was deleted under us: another one has to be made. */
  evicted(): void;
}

/**
 * One registration in the group, in one session: member, follower and candidate. It ends with the
 * session, with an eviction, or by leaving; what comes next is another one, which inherits nothing but
 * the shards that still drain.
 */
export class Participation {
  readonly session: string;
  readonly lease: Lease;
  readonly #ended = newScope();
  readonly #membership: Membership;
  readonly #keeper: LeaseKeeper;
  readonly #follower: Follower;
  readonly #plan = new BehaviorSubject<Plan | undefined>(undefined);
  /** A lease can lapse again while the consequences of the last time are still being drawn. */
  readonly #lapses = new WakeableLoop(() => this.#lapse());
  readonly #margin: number;
  readonly #sessionTimeout: number;
  #plans: PlanStore | undefined;
  #election: Election | undefined;
  #leader: Leader | undefined;
  #hasSettled = false;
  #isRegistered = false;
  #isLeaving = false;
  /** The plan does without us: whatever it says from now on is no reason to stand for election again. */
  #hasLeft = false;
  #lookout: Timer | undefined;
  /** The office is ours; the word is given once the lease covers it. */
  #term: number | undefined;

  constructor(
    private readonly parts: ProcessParts,
    session: Session & { readonly id: string },
    { isDrained, highestEpoch }: { readonly isDrained: boolean; readonly highestEpoch: number },
    private readonly listener: ParticipationListener,
  ) {
    const { registry, environment, options, keyspace } = parts;
    this.session = session.id;
    this.#sessionTimeout = session.timeout;
    const duration = options.lease.duration ?? session.timeout / 2;
    this.#margin = options.lease.margin ?? Math.max(500, duration / 10);
    this.lease = new Lease(environment.clock, duration, () => registry.session.timed);
    this.#membership = new Membership(
      registry,
      environment,
      keyspace,
      options,
      this.session,
      // A new registration holds nothing, so it can promise so for every epoch that this process has
      // heard of: then not even a plan made anew after a deletion issues one of those again.
      { lease: duration, surrendered: highestEpoch, leaving: isDrained },
      this.#ended.signal,
    );
    this.#keeper = new LeaseKeeper(registry, environment, this.lease, {
      leasePath: keyspace.lease(options.instance.id),
      session: this.session,
      isRegistered: (o) => this.#membership.isRegistered(o),
      isLatched: (o) => this.#election?.isLatched(o) ?? Promise.resolve(true),
      onRenewed: () => {
        this.#follower.reconcile();
        this.#takeOffice();
      },
      onLapsed: () => this.#lapses.wake(),
      onEvicted: () => this.#evicted(),
      onUnlatched: () => void this.#stopLeading(),
    });
    this.#follower = new Follower(
      {
        ...parts,
        membership: this.#membership,
        lease: this.lease,
        keeper: this.#keeper,
        onApplied: () => this.#applied(),
        onEvicted: () => this.#evicted(),
      },
      environment,
    );
  }

  /** Registered, and a settled plan that knows us was seen and carried out. */
  get isReady(): boolean {
    return this.#isRegistered && this.#hasSettled;
  }

  get plan(): Plan | undefined {
    return this.#follower.plan;
  }

  /** Registers, then follows the plan and stands for election until `end` or `leave`. */
  async run(patience: number): Promise<void> {
    await this.#membership.register(patience);
    if (this.#ended.signal.aborted) return;
    this.#isRegistered = true;
    const { registry, environment, keyspace, config } = this.parts;
    this.#plans = new PlanStore(registry, environment, keyspace.plan);
    this.#plans.state$.subscribe((state) => this.#regard(state));
    config.config$
      .pipe(take(1), takeUntil(aborted$(this.#ended.signal)))
      .subscribe(() => this.#stand());
    this.#lookOut();
    this.listener.changed();
  }

  async drain(): Promise<void> {
    await this.#follower.leave('drain');
  }

  async resume(): Promise<void> {
    await this.#follower.resume();
    // While it wanted nothing it did not matter whether its registration was still there.
    this.#lookOut();
  }

  /** Leaves in good order: nobody has to wait for anything afterwards. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#follower.leave('shutdown');
    await this.#unnamed();
    this.#hasLeft = true;
    const isEvicted = this.#ended.signal.aborted;
    await this.#resign(() => [
      this.#membership.unregister(this.#sessionTimeout),
      // The session may be others' too and live on: then the lease must not speak for us any more.
      this.#keeper.relinquish(),
    ]);
    // Then resigning did not come to that.
    if (isEvicted) await this.#keeper.relinquish();
    this.#close();
    await this.#follower.close('shutdown');
  }

  /** Ends at once, because the session or the registration is gone. */
  async end(reason: ReleaseReason): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const leader = this.#leader;
    this.#close();
    await Promise.all([this.#abdicate(leader, reason), this.#follower.close(reason)]);
  }

  /** Where the session lives on, our latch node would stand for ever, and nobody lead. */
  async #abdicate(leader: Leader | undefined, reason: ReleaseReason): Promise<void> {
    if (reason !== 'evicted') this.#election?.close();
    await this.parts.leadership.end();
    if (reason !== 'evicted') return;
    await leader?.stop();
    await Promise.all([leader?.vacate(), this.#election?.resign()]);
  }

  #close(): void {
    this.#ended.abort();
    this.#lookout?.cancel();
    this.#keeper.close();
    this.#plans?.close();
    void this.#leader?.stop();
    this.#leader = undefined;
  }

  #regard(state: PlanState): void {
    if (state.kind === 'unknown') return;
    // Also whoever resigned under a plan of a later release, when that is gone.
    this.#stand();
    if (state.kind === 'plan') return this.#follower.apply(state.plan);
    if (state.kind === 'unreadable') {
      this.parts.environment.log.error(state.reason);
      // Whoever cannot read the plan must not replace it.
      if (state.isNewer) void this.#standBack();
    }
    void this.#follower.loseThePlan();
  }

  #applied(): void {
    const { plan, isSettled } = this.#follower;
    if (isSettled) this.#hasSettled = true;
    this.#plan.next(plan);
    if (plan && this.#isOverruled(plan)) void this.#stopLeading();
    this.#lookOut();
    this.listener.changed();
  }

  /**
   * Whoever holds something finds out by its renewals that its registration was deleted. Whoever does
   * not, and is not named in the plan although it should be, has to look.
   */
  #lookOut(): void {
    this.#lookout?.cancel();
    if (this.#ended.signal.aborted || this.#follower.isNamed || this.#membership.record.leaving)
      return;
    this.#lookout = this.parts.environment.clock.setTimer(() => {
      this.#membership
        .isRegistered({ session: this.session })
        .then((isRegistered) => (isRegistered ? this.#lookOut() : this.#evicted()))
        .catch(() => this.#lookOut());
    }, this.#sessionTimeout / 2);
  }

  /** Somebody took office after us: our word ends before the lease would end it. */
  #isOverruled({ office }: Plan): boolean {
    return this.parts.leadership.isLeader && office.incarnation !== this.#membership.incarnation;
  }

  /** Stands in line, unless it does so already or must not: a second place in it would lead for ever. */
  #stand(): void {
    const { registry, environment, keyspace, options } = this.parts;
    const isOut = this.#ended.signal.aborted || this.#hasLeft;
    if (this.#election || isOut || !this.#couldPlan) return;
    const { incarnation } = this.#membership;
    const candidate = Buffer.from(JSON.stringify({ id: options.instance.id, incarnation }));
    const election = new Election(
      registry,
      environment,
      keyspace.latches,
      candidate,
      this.session,
      {
        elected: () => this.#lead(),
        deposed: () => void this.#stopLeading(),
      },
    );
    this.#election = election;
    election.start();
  }

  /** Whoever could not would lead for ever without a plan, with others in line who could. */
  get #couldPlan(): boolean {
    const state = this.#plans?.state;
    const isPlanOfLaterRelease = state?.kind === 'unreadable' && state.isNewer;
    return this.parts.config.config !== undefined && !isPlanOfLaterRelease;
  }

  #lead(): void {
    const { registry, environment, keyspace, options, config } = this.parts;
    if (!this.#plans || this.#leader || this.#ended.signal.aborted) return;
    this.#follower.isLeading = true;
    const leader = new Leader(
      registry,
      environment,
      keyspace,
      this.#plans,
      config,
      {
        id: options.instance.id,
        incarnation: this.#membership.incarnation,
        session: this.session,
        sessionTimeout: this.#sessionTimeout,
        lease: this.lease.duration,
        margin: this.#margin,
        rebalanceDelay: options.rebalanceDelay,
        namespace: options.namespace,
        strategies: options.strategies,
        seedView: options.seedView,
      },
      {
        inOffice: (term) => {
          this.#term = term;
          this.#takeOffice();
        },
        overruled: () => void this.#stopLeading(),
      },
    );
    this.#leader = leader;
    leader.start();
  }

  #takeOffice(): void {
    const leader = this.#leader;
    const term = this.#term;
    // Whoever is about to go still plans, but does not take up the office.
    const mayBegin = (): boolean =>
      this.#leader === leader && !this.#isLeaving && this.lease.isValid;
    if (term === undefined || !leader || !mayBegin()) return;
    this.#term = undefined;
    void this.parts.leadership.begin(term, this.lease, mayBegin);
  }

  /** Leads no more, gives the latch back and stands in line again. */
  async #stopLeading(): Promise<void> {
    if (this.#leader) await this.#standBack();
  }

  /** Leaves the line, and enters it anew where that makes sense by now. */
  async #standBack(): Promise<void> {
    await this.#resign();
    this.#stand();
  }

  /** The word ends first, then the office is vacated, then the latch goes: so that none overlap. */
  async #resign(alongside: () => Promise<unknown>[] = () => []): Promise<void> {
    const leader = this.#leader;
    const election = this.#election;
    this.#leader = undefined;
    this.#term = undefined;
    // Planning stops at once, also where @OnLeader takes its time to end.
    await Promise.all([leader?.stop(), this.parts.leadership.end()]);
    this.#follower.isLeading = false;
    if (this.#ended.signal.aborted) return;
    // Sent one behind the other, so that handing over takes one round trip, and whatever else has to be
    // written with it does not get in the way of the next leader's first write.
    await Promise.all([leader?.vacate(), election?.resign(), ...alongside()]);
    if (this.#election === election) this.#election = undefined;
  }

  async #lapse(): Promise<void> {
    if (!this.lease.hasLapsed || this.#ended.signal.aborted) return;
    this.parts.environment.log.warn(
      'The lease ran out before it could be renewed: this instance lets go of everything',
    );
    this.listener.changed();
    await Promise.all([this.#stopLeading(), this.#follower.lapse()]);
    this.listener.changed();
  }

  #evicted(): void {
    if (this.#ended.signal.aborted) return;
    this.parts.environment.log.warn(
      'The registration of this instance was deleted: it lets go of everything and registers anew',
    );
    this.listener.evicted();
  }

  /** Resolves when the plan does not name us any more; while we lead, our own loop sees to it. */
  async #unnamed(): Promise<void> {
    if (!this.#follower.isNamed) return;
    await firstValueFrom(
      this.#plan.pipe(
        filter(() => !this.#follower.isNamed),
        takeUntil(aborted$(this.#ended.signal)),
      ),
      { defaultValue: undefined },
    );
  }
}
