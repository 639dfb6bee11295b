import type { ReleaseReason } from '../interfaces/sharding-values.interface.js';
import type { Environment } from '../registry/environment.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import type { AssignmentStream } from './assignment-stream.js';
import type { ConfigStore } from './config-store.js';
import type { CoordinatorOptions } from './coordinator.types.js';
import type { Holding } from './holding.js';
import type { Lease } from './lease.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { Membership } from './membership.js';
import { NO_SHARE, type Plan, type PlanMember, shareOf } from './plan.js';
import type { RebalanceHooks } from './rebalance-hooks.js';
import type { ReasonOf, Shards } from './shards.js';

/** What a follower works with. */
export interface FollowerParts {
  // These outlive the registration.
  readonly options: Pick<CoordinatorOptions, 'instance' | 'rejoin'>;
  readonly config: Pick<ConfigStore, 'config'>;
  readonly shards: Shards;
  readonly assignment: AssignmentStream;
  readonly rebalances: RebalanceHooks;
  // These belong to it.
  readonly membership: Membership;
  readonly lease: Lease;
  readonly keeper: LeaseKeeper;
  /** Called after anything that may concern whoever waits for readiness. */
  readonly onApplied: () => void;
  /** Called when our registration turns out to be gone. */
  readonly onEvicted: () => void;
}

const AT_ONCE = Promise.resolve();

/**
 * Makes this process do what the plan says, for one registration. Driven by levels, not edges: on each
 * occasion (a plan, a drained shard, a renewed lease) it compares what the plan grants with what runs.
 */
export class Follower {
  #plan: Plan | undefined;
  #share = NO_SHARE;
  #isNamed = false;
  #isLeading = false;
  #isClosed = false;
  /** Because of a lapse, a drain or a leave: nothing starts meanwhile. */
  #surrenders = 0;

  constructor(
    private readonly parts: FollowerParts,
    private readonly environment: Environment,
  ) {
    const { rebalances, shards } = parts;
    // What an earlier registration began may end when our first plan has long been applied.
    if (rebalances.isAnnouncing || shards.isAnyDraining) {
      void Promise.all([rebalances.announced(), shards.drained()]).then(this.reconcile);
    }
  }

  get plan(): Plan | undefined {
    return this.#plan;
  }

  /** Whether the plan knows this registration. */
  get isNamed(): boolean {
    return this.#isNamed;
  }

  /** A settled plan knows us, and all that it grants us is held. */
  get isSettled(): boolean {
    return this.#isNamed && this.#plan?.settled === true && this.#hasWhatIsGranted();
  }

  /** Whether this process leads, so that the lease is needed whatever else. */
  set isLeading(isLeading: boolean) {
    this.#isLeading = isLeading;
    this.#updateNeed();
  }

  /** Applies a plan, unless a newer one was applied before. */
  apply(plan: Plan): void {
    const previous = this.#plan;
    if (this.#isClosed || (previous && plan.epoch <= previous.epoch)) return;
    const share = shareOf(plan, this.parts.membership.incarnation);
    this.#plan = plan;
    this.#share = share ?? NO_SHARE;
    this.#isNamed = share !== undefined;

    const losing = this.#losing(plan);
    const { rebalances } = this.parts;
    const isNews = this.#isNamed && !(previous && isOnlyOffice(previous, plan));
    if (losing.length > 0 || (isNews && !rebalances.isAnnounced)) {
      void this.#release(losing, this.#reasonFor(plan), previous?.total ?? 0);
    }
    this.reconcile();
  }

  /** There is no usable plan: nothing is held, and the store is told so. */
  async loseThePlan(): Promise<void> {
    if (this.#isClosed) return;
    this.#share = NO_SHARE;
    this.#isNamed = false;
    await this.#surrender('rebalance', {});
    if (!this.#isNamed) await this.parts.keeper.disclaim().catch(this.#complain);
  }

  /** Starts what may start, acknowledges what has been drained, concludes a rebalance. */
  readonly reconcile = (): void => {
    const plan = this.#plan;
    if (!plan || this.#isClosed) return;
    this.#updateNeed();
    this.#startGranted(plan);
    this.#acknowledge();
    this.parts.assignment.update(plan.epoch, plan.total);
    this.#concludeIfSettled(plan);
    this.parts.onApplied();
  };

  /** The lease ran out while the session lives: everything is given up, and said to be. */
  async lapse(): Promise<void> {
    await this.#surrender('lease-lost', {});
    if (this.#isClosed) return;
    this.parts.keeper.restart();
    this.reconcile();
  }

  /** Gives everything up in good order and wants nothing more, until `resume`. */
  async leave(reason: 'drain' | 'shutdown'): Promise<void> {
    // Whoever is drained on purpose gives its items up for good; whoever goes may be awaited.
    const isForGood = reason === 'drain';
    await this.#surrender(reason, { leaving: true, ...(isForGood ? { rejoinWindow: 0 } : {}) });
  }

  async resume(): Promise<void> {
    const rejoinWindow = this.parts.options.rejoin.window;
    await this.parts.membership.promise({ leaving: false, rejoinWindow }).catch(this.#complain);
  }

  /** The registration is over: whatever it held is not held any more. */
  async close(reason: ReleaseReason): Promise<void> {
    this.#isClosed = true;
    await this.#releaseAll(reason);
  }

  /** What we hold that the plan does not grant us any more. */
  #losing({ total }: Plan): Holding[] {
    const losing: Holding[] = [];
    for (const held of this.parts.shards.held.values()) {
      const isKept = this.#share.tokenOf(held.item) === held.grantedAt && held.total === total;
      if (!isKept) losing.push(held);
    }
    return losing;
  }

  /** Why the plan takes items from us, as far as we know the configuration that it was made by. */
  #reasonFor(plan: Plan): ReasonOf {
    if (!this.#isNamed) return () => 'evicted';
    if (plan.nextTotal !== plan.total) return () => 'total-changed';
    const { items = {}, instances = {} } = this.parts.config.config ?? {};
    const { disabled, drained } = instances[this.parts.options.instance.id] ?? {};
    if (disabled) return () => 'disabled';
    if (drained) return () => 'drain';
    return (item) => (items[item]?.disabled ? 'disabled' : 'rebalance');
  }

  async #releaseAll(reason: ReleaseReason): Promise<void> {
    const held = [...this.parts.shards.held.values()];
    const isAnnounced = reason !== 'shutdown';
    if (held.length > 0) {
      await this.#release(held, () => reason, this.#plan?.total ?? 0, isAnnounced);
    }
    await this.parts.shards.drained();
  }

  /**
   * In the promised order: the items are not owned any more, their signals fire, @OnShardingStarted
   * runs, the workers are awaited, @OnShardReleased runs; then `reconcile` acknowledges.
   */
  async #release(
    losing: readonly Holding[],
    reasonOf: ReasonOf,
    previousTotal: number,
    isAnnounced = true,
  ): Promise<void> {
    const { shards, assignment, rebalances } = this.parts;
    const { epoch = 0, total = 0, nextTotal = 0 } = this.#plan ?? {};
    const release = shards.letGo(losing, reasonOf);
    assignment.update(epoch, total);
    const announced = isAnnounced
      ? rebalances.announce({
          epoch,
          previousTotal,
          total: nextTotal,
          losing: losing.map(({ item }) => item).toSorted(ascending),
          keeping: assignment.items,
        })
      : AT_ONCE;
    await (release ? shards.drain(release, announced) : announced);
    this.reconcile();
    // An announcement that overran, or had to wait for a hook before it, may outlast the drain.
    if (!rebalances.isAnnouncing) return;
    await announced;
    this.reconcile();
  }

  #startGranted({ total }: Plan): void {
    const { shards, lease, keeper, membership, rebalances } = this.parts;
    if (this.#surrenders > 0 || rebalances.isAnnouncing || !keeper.mayHold) return;
    const { surrendered, leaving } = membership.record;
    if (leaving || !shards.allows(total)) return;
    const { items = {} } = this.parts.config.config ?? {};
    for (const item of this.#share.granted) {
      const token = this.#share.tokenOf(item);
      if (token > surrendered && !shards.isBusy(item)) {
        shards.start(item, token, total, lease, items[item]?.parameter);
      }
    }
  }

  /** Rule 1: a revocation is acknowledged when its item is neither held nor drains. */
  #acknowledge(): void {
    const { shards, membership } = this.parts;
    let outstanding = Infinity;
    for (const item of this.#share.revoked) {
      if (shards.isBusy(item)) outstanding = Math.min(outstanding, this.#share.markOf(item));
    }
    let acked = 0;
    for (const item of this.#share.revoked) {
      const mark = this.#share.markOf(item);
      if (mark < outstanding) acked = Math.max(acked, mark);
    }
    if (acked > membership.record.acked) membership.promise({ acked }).catch(this.#complain);
  }

  async #surrender(
    reason: ReleaseReason,
    change: { leaving?: boolean; rejoinWindow?: number },
  ): Promise<void> {
    this.#surrenders += 1;
    try {
      await this.#releaseAll(reason);
      if (this.#isClosed) return;
      const epoch = this.#plan?.epoch ?? 0;
      await this.parts.membership.promise({ acked: epoch, surrendered: epoch, ...change });
    } catch (error) {
      this.#complain(error);
    } finally {
      this.#surrenders -= 1;
    }
  }

  /** Whoever holds, drains, leads, or is named in an unsettled plan needs the lease. */
  #updateNeed(): void {
    if (this.#isClosed) return;
    const { shards, keeper } = this.parts;
    const isMoving = this.#isNamed && this.#plan?.settled === false;
    const mayHold = isMoving || this.#share.granted.length > 0 || shards.isAnyBusy;
    keeper.need = mayHold ? 'holding' : this.#isLeading ? 'leading' : 'nothing';
  }

  #concludeIfSettled(plan: Plan): void {
    const { rebalances, assignment, membership } = this.parts;
    if (!plan.settled || !rebalances.isAnnounced || rebalances.isAnnouncing) return;
    // A plan of before our registration says nothing about us.
    if (!this.#isNamed && !membership.record.leaving) return;
    if (this.#hasWhatIsGranted()) rebalances.conclude(assignment.sinceLastCompleted());
  }

  #hasWhatIsGranted(): boolean {
    const { shards, membership } = this.parts;
    const { surrendered, leaving } = membership.record;
    if (shards.isAnyDraining) return false;
    for (const item of this.#share.granted) {
      const token = this.#share.tokenOf(item);
      const isIgnored = token <= surrendered || leaving;
      if (!isIgnored && shards.grantOf(item) !== token) return false;
    }
    return true;
  }

  /** A promise that could not be stored: the session is over, or the registration is. */
  readonly #complain = (error: unknown): void => {
    const code = registryErrorCode(error);
    if (this.#isClosed || code === 'SESSION_LOST') return;
    if (code === 'NO_NODE') return this.parts.onEvicted();
    this.environment.log.warn(`This instance's registration was not updated: ${String(error)}`);
  };
}

const ascending = (a: number, b: number): number => a - b;

/** Whether the second of two settled plans differs from the first only by who leads. */
function isOnlyOffice(a: Plan, b: Plan): boolean {
  const isOtherOffice = a.office.term !== b.office.term || a.office.lease !== b.office.lease;
  if (!isOtherOffice || !a.settled || !b.settled || a.total !== b.total) return false;
  if (a.members.length !== b.members.length) return false;
  const isSameMember = ({ incarnation }: PlanMember, index: number): boolean =>
    incarnation === b.members[index]!.incarnation;
  if (!a.members.every(isSameMember)) return false;
  for (let item = 0; item < a.total; item++) if (a.tokens[item] !== b.tokens[item]) return false;
  return true;
}
