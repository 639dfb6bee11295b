import type { Subscription } from 'rxjs';
import type { ShardingStrategy } from '../interfaces/sharding-strategy.interface.js';
import type { Environment, Timer } from '../registry/environment.js';
import type { OperationOptions, Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { SureWrites } from '../registry/sure-writes.js';
import { WakeableLoop, newScope } from './async.js';
import { AwayWatch } from './away-watch.js';
import { Chronicle } from './chronicle.js';
import type { ConfigStore } from './config-store.js';
import type { GroupConfig } from './group-config.js';
import type { Keyspace } from './keyspace.js';
import { AbsenceWait } from './lease.js';
import { mayHold } from './lease-keeper.js';
import { decodeMember, type MemberRecord } from './member-record.js';
import { MembersWatch } from './members-watch.js';
import type { Plan } from './plan.js';
import { encodePlan, MAX_PLAN_BYTES } from './plan-codec.js';
import { addressed, type PlanState, type PlanStore } from './plan-store.js';
import { type LeaderFacts, next, type Step } from './planner.js';
import { rosterOf } from './roster.js';
import { SeedView } from './seed-view.js';
import { StrategyBook } from './strategy-book.js';
import { UnmetWishes } from './unmet-wishes.js';

export interface LeaderOptions {
  readonly id: string;
  readonly incarnation: string;
  readonly session: string;
  readonly sessionTimeout: number;
  readonly lease: number;
  readonly margin: number;
  readonly rebalanceDelay: number;
  readonly namespace: string;
  /** Those of the application, by name. */
  readonly strategies: Readonly<Record<string, ShardingStrategy>>;
  readonly seedView: boolean;
}

export interface LeaderListener {
  /** Office is taken and every earlier leader has been waited out: we may say that we lead. */
  inOffice(term: number): void;
  /** Somebody else took office after us. */
  overruled(): void;
}

/** For how long a grant waits for others to let go as well, in milliseconds. */
const GATHERING_TIME = 10;

/**
 * The leader's loop: whenever anything changes, ask `next` for the next plan and write it, one write at
 * a time, each from the version that was read. It remembers only what it has itself waited for; all
 * else is in the store, so that whoever leads next goes on from there.
 */
export class Leader {
  readonly #writes: SureWrites;
  readonly #members: MembersWatch;
  readonly #loop = new WakeableLoop(() => this.#round());
  readonly #ended = newScope();
  readonly #subscriptions: Subscription[] = [];
  readonly #seedView: SeedView | undefined;
  readonly #strategies: StrategyBook;
  readonly #away: AwayWatch;
  readonly #chronicle: Chronicle;
  readonly #unmet: UnmetWishes;
  /** Absences being waited out, and those that have been, by incarnation. */
  readonly #absences = new Map<string, AbsenceWait>();
  readonly #waitedOut = new Set<string>();
  /** Deadlines for live members that were asked to let go, by incarnation. */
  readonly #overdue = new Map<string, Timer>();
  #term: number | undefined;
  #isInOffice = false;
  /** The lease of an earlier leader that is still being waited out. */
  #owed = 0;
  #owedWait: AbsenceWait | undefined;
  #predecessor: string | undefined;
  #mayRevoke: boolean;
  /** A rebalance that was permitted has not settled yet. */
  #isMoving = false;
  #permission: Timer | undefined;
  #isForced = false;
  #deletedPlanWait: AbsenceWait | 'over' | undefined;
  #retry: Timer | undefined;
  /** Grants wait a moment for the acknowledgements that are still to come. */
  #gathering: Timer | undefined;
  #hasGathered = false;

  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
    private readonly keyspace: Keyspace,
    private readonly plans: PlanStore,
    private readonly config: ConfigStore,
    private readonly options: LeaderOptions,
    private readonly listener: LeaderListener,
  ) {
    this.#writes = new SureWrites(registry, environment);
    this.#mayRevoke = options.rebalanceDelay === 0;
    this.#members = new MembersWatch(
      registry,
      keyspace,
      (registered) => {
        if (registered) this.#isBack(registered.incarnation);
        this.#loop.wake();
      },
      this.#complain,
    );
    this.#strategies = new StrategyBook(options.strategies, options.namespace, environment.log);
    this.#unmet = new UnmetWishes((text) => environment.log.warn(text));
    this.#away = new AwayWatch(environment.clock, () => this.#loop.wake());
    this.#chronicle = new Chronicle(
      registry,
      environment,
      keyspace.history,
      options.id,
      () => this.#pinned,
    );
    if (options.seedView) {
      this.#seedView = new SeedView(registry, environment, keyspace, options);
    }
  }

  start(): void {
    this.#subscriptions.push(
      this.plans.state$.subscribe({ next: () => this.#loop.wake(), error: () => {} }),
      this.config.config$.subscribe(() => this.#loop.wake()),
      this.registry.watch(this.keyspace.necessary).subscribe({
        next: (node) => {
          if (node && !this.#seedView?.isOurs(node)) void this.#takeRequest(node.stat.version);
        },
        error: this.#complain,
      }),
    );
  }

  readonly #complain = (error: unknown): void => {
    this.environment.log.error(`The leader cannot watch the group: ${(error as Error).message}`);
  };

  /** Ends at once; nothing is written any more. */
  async stop(): Promise<void> {
    this.#ended.abort();
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#members.close();
    this.#seedView?.close();
    this.#away.close();
    this.#owedWait?.cancel();
    this.#permission?.cancel();
    this.#retry?.cancel();
    this.#gathering?.cancel();
    if (this.#deletedPlanWait !== 'over') this.#deletedPlanWait?.cancel();
    for (const wait of this.#absences.values()) wait.cancel();
    for (const timer of this.#overdue.values()) timer.cancel();
    await this.#loop.stop();
  }

  /** Says in the plan that nobody has to wait for us. Not vital: without it the next one waits. */
  async vacate(): Promise<void> {
    const { state } = this.plans;
    if (state.kind !== 'plan' || state.plan.office.incarnation !== this.options.incarnation) return;
    const { plan, version } = state;
    const vacated: Plan = {
      ...plan,
      epoch: Math.max(plan.epoch + 1, Math.floor(this.environment.clock.wall())),
      nonce: this.environment.random.hex(16),
      office: { ...plan.office, lease: 0, owed: this.#owed },
    };
    try {
      const { session } = this.options;
      const written = addressed(vacated, state);
      const stat = await this.registry.set(this.keyspace.plan, encodePlan(written), version, {
        session,
      });
      this.plans.learn(written, stat);
    } catch (error) {
      this.environment.log.debug(`The office was not vacated: ${(error as Error).message}`);
    }
  }

  get #pinned(): OperationOptions {
    return { session: this.options.session, signal: this.#ended.signal };
  }

  async #round(): Promise<void> {
    try {
      await this.#plan();
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      const code = registryErrorCode(error);
      if (code === 'SESSION_LOST' || code === 'CLOSED') return;
      const isRoutine = code === 'CONNECTION_LOST' || code === 'TIMED_OUT';
      if (!isRoutine) {
        const { message, stack } = error as Error;
        this.environment.log.error(`Planning failed and is tried again: ${message}`, stack);
      }
      this.#wakeIn(this.options.lease / 4);
    }
  }

  async #plan(): Promise<void> {
    const { state } = this.plans;
    const { config } = this.config;
    if (state.kind === 'unknown' || !config) return;
    if (state.kind === 'unreadable' && state.isNewer) return;
    const plan = state.kind === 'plan' ? state.plan : undefined;
    if (!this.#regardOffice(plan)) return;
    if (plan && this.#term === undefined) return this.#takeOffice(plan, state);
    if (!this.#members.isComplete) return;
    if (plan) await this.#confirmAbsences(plan);
    const mayCreate = plan === undefined && (await this.#nobodyHolds());
    if (this.#ended.signal.aborted || this.plans.state !== state) return this.#loop.wake();

    const step = next(plan, this.#members.records, config, this.#facts(config, mayCreate));
    this.#attend(step, plan);
    this.#chronicle.saw(plan, step, config);
    const total = (step.plan ?? plan)?.total;
    if (total !== undefined) {
      this.#unmet.look(config, rosterOf(this.#members.records, config), total);
    }
    if (this.#waitsForMore(step)) return;
    if (step.plan) await this.#carryOut(step, step.plan, state, config);
    else if (plan) this.#seedView?.show(plan);
  }

  /**
   * Those who are asked to let go mostly do so within moments of each other: then one write grants what
   * all of them gave up, instead of one for each of them.
   */
  #waitsForMore({ granted, waiting }: Step): boolean {
    const isGathering = granted > 0 && waiting.acknowledgements.length > 0;
    if (!isGathering || this.#isForced) {
      this.#gathering?.cancel();
      this.#gathering = undefined;
      this.#hasGathered = false;
      return false;
    }
    if (this.#hasGathered) return (this.#hasGathered = false);
    this.#gathering ??= this.environment.clock.setTimer(() => {
      this.#gathering = undefined;
      this.#hasGathered = true;
      this.#loop.wake();
    }, GATHERING_TIME);
    return true;
  }

  /** The first write of a leader changes nothing but the office, so it need not know anything else. */
  async #takeOffice(plan: Plan, state: PlanState): Promise<void> {
    const { id, incarnation, lease } = this.options;
    const epoch = Math.max(plan.epoch + 1, Math.floor(this.environment.clock.wall()));
    const office = { id, incarnation, lease, term: epoch, owed: this.#owed };
    const nonce = this.environment.random.hex(16);
    await this.#write({ ...plan, epoch, nonce, office }, state);
  }

  #facts(config: GroupConfig, mayCreate: boolean): LeaderFacts {
    const { id, incarnation, lease } = this.options;
    return {
      office: { id, incarnation, lease, owed: this.#owed, term: this.#term },
      wall: this.environment.clock.wall(),
      nonce: this.environment.random.hex(16),
      waitedOut: this.#waitedOut,
      lastWords: this.#members.lastWords,
      mayCreate,
      // The waves of one rebalance follow each other without another wait for permission.
      mayRevoke: this.#mayRevoke || (this.#isMoving && config.maxMoves !== undefined),
      overstayed: this.#away.overstayed,
      isForced: this.#isForced,
      strategy: this.#strategies.named(config.strategy),
    };
  }

  /** Looks at who held office before us; false if it was taken from us. */
  #regardOffice(plan: Plan | undefined): boolean {
    const office = plan?.office;
    if (!office) return true;
    const { incarnation, lease, owed, term } = office;
    const isOurs = incarnation === this.options.incarnation;
    if (this.#term !== undefined) {
      if (!isOurs) this.listener.overruled();
      return isOurs;
    }
    // Our own word of an earlier term has ended, but not what was owed to others then.
    this.#owe(`${incarnation} ${term}`, isOurs ? owed : Math.max(lease, owed));
    return true;
  }

  /** Nobody may call itself leader before this earlier leader's lease has run out for certain. */
  #owe(predecessor: string, lease: number): void {
    if (this.#predecessor === predecessor) return;
    this.#predecessor = predecessor;
    this.#owed = Math.max(lease, this.#owed);
    this.#owedWait?.cancel();
    if (this.#owed === 0) return;
    const { clock } = this.environment;
    this.#owedWait = new AbsenceWait(clock, this.#owed, this.options.margin, () => {
      this.#owed = 0;
      this.#enterOffice();
    });
  }

  #enterOffice(): void {
    if (this.#isInOffice || this.#term === undefined || this.#owed > 0) return;
    this.#isInOffice = true;
    this.listener.inOffice(this.#term);
  }

  /**
   * Rule 3: a member that the plan names is gone only if absent from a read sent after that plan was
   * received, in the same session. One whose node is gone never comes back, but one whose node somebody
   * has overwritten may.
   */
  async #confirmAbsences(plan: Plan): Promise<void> {
    const live = new Set(this.#members.records.map(({ incarnation }) => incarnation));
    const missing = plan.members.filter(
      ({ incarnation }) =>
        !live.has(incarnation) &&
        !this.#waitedOut.has(incarnation) &&
        !this.#absences.has(incarnation),
    );
    if (missing.length === 0) return;
    const present = new Set(await this.registry.children(this.keyspace.instances, this.#pinned));
    await Promise.all(
      missing.map(async ({ id, incarnation, lease }) => {
        if (present.has(id) && (await this.#stands(id, incarnation))) return;
        if (this.#ended.signal.aborted || this.#absences.has(incarnation)) return;
        this.#absences.set(incarnation, this.#waitFor(incarnation, lease));
      }),
    );
  }

  /** At whatever moment it is seen again: it may have renewed its lease since we missed it. */
  #isBack(incarnation: string): void {
    this.#absences.get(incarnation)?.cancel();
    this.#absences.delete(incarnation);
    this.#waitedOut.delete(incarnation);
  }

  async #stands(id: string, incarnation: string): Promise<boolean> {
    try {
      const { data } = await this.registry.get(this.keyspace.instance(id), this.#pinned);
      return decodeMember(id, data)?.incarnation === incarnation;
    } catch (error) {
      if (registryErrorCode(error) === 'NO_NODE') return false;
      throw error;
    }
  }

  #waitFor(incarnation: string, lease: number): AbsenceWait {
    return new AbsenceWait(this.environment.clock, lease, this.options.margin, () => {
      this.#absences.delete(incarnation);
      this.#waitedOut.add(incarnation);
      this.#loop.wake();
    });
  }

  /**
   * Rule 6: without a plan, nobody may hold anything before a first one is made. In a namespace where
   * no lease has ever been given up that is plain to see; else whoever vanished is waited out too.
   */
  async #nobodyHolds(): Promise<boolean> {
    const ids = await this.#leaseHolders();
    if (!ids) return true;
    // How often they changed is read behind all else: it tells of whoever vanished while we looked.
    const [flags, stat] = await Promise.all([
      Promise.all(ids.map((id) => this.#mayHold(id))),
      this.registry.exists(this.keyspace.leases, this.#pinned),
    ]);
    const hasNoneVanished = stat?.childChanges === ids.length;
    const longest = Math.max(
      this.options.lease,
      ...this.#members.records.map(({ lease }) => lease),
    );
    const isOnlyOurs = hasNoneVanished && ids.every((id) => id === this.options.id);
    // Whoever led under the plan that is gone may still say so.
    if (!isOnlyOurs) this.#owe('unknown', longest);
    if (flags.includes(true)) {
      this.#wakeIn(this.options.lease / 4);
      return false;
    }
    if (hasNoneVanished) return true;
    this.#deletedPlanWait ??= new AbsenceWait(
      this.environment.clock,
      longest,
      this.options.margin,
      () => {
        this.#deletedPlanWait = 'over';
        this.#loop.wake();
      },
    );
    return this.#deletedPlanWait === 'over';
  }

  /** Everyone with a lease; undefined if nobody has ever had one. */
  async #leaseHolders(): Promise<readonly string[] | undefined> {
    try {
      return await this.registry.children(this.keyspace.leases, this.#pinned);
    } catch (error) {
      if (registryErrorCode(error) === 'NO_NODE') return undefined;
      throw error;
    }
  }

  async #mayHold(id: string): Promise<boolean> {
    try {
      return mayHold((await this.registry.get(this.keyspace.lease(id), this.#pinned)).data);
    } catch (error) {
      if (registryErrorCode(error) === 'NO_NODE') return false;
      throw error;
    }
  }

  /** Sets the timers for what the step waits for, and drops those that nothing waits for. */
  #attend({ waiting, revoked }: Step, plan: Plan | undefined): void {
    const asked = new Set(waiting.acknowledgements);
    for (const [incarnation, timer] of this.#overdue) {
      if (asked.has(incarnation)) continue;
      timer.cancel();
      this.#overdue.delete(incarnation);
    }
    for (const member of this.#members.records) {
      if (!asked.has(member.incarnation) || this.#overdue.has(member.incarnation)) continue;
      const bound = member.drainTimeout + this.options.sessionTimeout;
      const timer = this.environment.clock.setTimer(() => void this.#evict(member), bound);
      this.#overdue.set(member.incarnation, timer);
    }
    // Permission that was not made use of is void: what comes next waits for its own.
    if (revoked === 0) this.#mayRevoke = this.options.rebalanceDelay === 0;
    if (waiting.permission && !this.#permission) {
      this.#permission = this.environment.clock.setTimer(() => {
        this.#permission = undefined;
        this.#mayRevoke = true;
        this.#loop.wake();
      }, this.options.rebalanceDelay);
    }
    this.#away.attend(plan ?? { away: [], members: [] }, this.#members.records);
    const named = new Set(plan?.members.map(({ incarnation }) => incarnation));
    this.#members.forgetExcept(named);
    for (const incarnation of this.#waitedOut) {
      if (!named.has(incarnation)) this.#waitedOut.delete(incarnation);
    }
  }

  /** Rule 5: nobody can hold up the group. From here on it is dead, and waited out like any other. */
  async #evict({ id, incarnation }: MemberRecord): Promise<void> {
    const version = this.#members.versionOf(id);
    const isThere = this.#members.records.some((member) => member.incarnation === incarnation);
    if (version === undefined || !isThere) return;
    this.environment.log.warn(
      `Instance ${id} has not let go of its shards within its drainTimeout; evicting it`,
    );
    try {
      await this.registry.delete(this.keyspace.instance(id), version, this.#pinned);
    } catch (error) {
      this.environment.log.debug(`The eviction of ${id} failed: ${(error as Error).message}`);
      // As long as it has not let go it gets another deadline.
      this.#overdue.delete(incarnation);
    }
    this.#loop.wake();
  }

  async #carryOut(
    { goal, revoked, granted }: Step,
    plan: Plan,
    state: PlanState,
    config: GroupConfig,
  ): Promise<void> {
    if (goal && !this.#fits(encodePlan(goal()))) return;
    // A request that comes during the write is another one.
    const isAsked = this.#isForced;
    this.#isForced = false;
    let isWritten = false;
    try {
      isWritten = await this.#write(plan, state);
    } finally {
      if (!isWritten) this.#isForced ||= isAsked;
    }
    if (!isWritten) return;
    this.#chronicle.wrote(plan, config, isAsked);
    this.environment.log.debug(
      `Wrote plan ${plan.epoch}: ${revoked} revoked, ${granted} granted, ` +
        `${plan.members.length} members${plan.settled ? ', settled' : ''}`,
    );
    if (revoked > 0) this.#mayRevoke = this.options.rebalanceDelay === 0;
    this.#isMoving = !plan.settled && (this.#isMoving || revoked > 0);
    this.#deletedPlanWait = undefined;
    this.#seedView?.show(plan);
  }

  /** How large the plan will get is looked at before anything moves. */
  #fits({ length }: Buffer): boolean {
    if (length <= MAX_PLAN_BYTES) return true;
    this.environment.log.error(
      `The plan would take ${length} bytes, more than the ${MAX_PLAN_BYTES} that a node may have; ` +
        'nothing is moved. Use fewer shards or fewer instances',
    );
    return false;
  }

  /** True if the plan was written; false if somebody was quicker, which leads to another round. */
  async #write(planned: Plan, state: PlanState): Promise<boolean> {
    const plan = addressed(planned, state);
    const data = encodePlan(plan);
    if (!this.#fits(data)) return false;
    try {
      if (state.kind === 'absent') {
        await this.#writes.create(this.keyspace.plan, data, { ...this.#pinned, parents: true });
        await this.plans.refresh(this.#pinned);
      } else if (state.kind !== 'unknown') {
        const { version } = state;
        const stat = await this.#writes.set(this.keyspace.plan, data, version, this.#pinned);
        this.plans.learn(plan, stat);
      }
      // Written over a plan made anew after a deletion, it is none.
      if (this.plans.plan === undefined) return false;
    } catch (error) {
      const code = registryErrorCode(error);
      if (code !== 'BAD_VERSION' && code !== 'NO_NODE' && code !== 'NODE_EXISTS') throw error;
      await this.plans.refresh(this.#pinned);
      this.#loop.wake();
      return false;
    }
    this.#term ??= plan.office.term;
    this.#enterOffice();
    this.#loop.wake();
    return true;
  }

  /** First the request is deleted, then everything is looked at: so none is lost. */
  async #takeRequest(version: number): Promise<void> {
    try {
      await this.registry.delete(this.keyspace.necessary, version, this.#pinned);
    } catch (error) {
      const code = registryErrorCode(error);
      if (code !== 'NO_NODE' && code !== 'BAD_VERSION') {
        this.environment.log.debug(`A reshard request stays: ${(error as Error).message}`);
        return;
      }
    }
    this.#isForced = true;
    this.#loop.wake();
  }

  #wakeIn(delay: number): void {
    this.#retry?.cancel();
    this.#retry = this.environment.clock.setTimer(() => this.#loop.wake(), delay);
  }
}
