import type { ReleaseReason } from '../interfaces/sharding-values.interface.js';
import type { Environment } from '../registry/environment.js';
import { Deadline, endsWithin } from './async.js';
import type { CoordinatorHooks } from './coordinator.types.js';
import { Drain } from './drain.js';
import { Holding } from './holding.js';
import type { Lease } from './lease.js';

/**
 * The shards that this process works on, over all its sessions. Invariants: an item has one worker at a
 * time, the next begins when the former has ended or overrun its time; and nothing of one total begins
 * while anything of another is held or drains.
 */
export class Shards {
  readonly #held = new Map<number, Holding>();
  readonly #draining = new Map<number, Holding>();
  /** The same by item, for what is asked of each of a hundred thousand: the grant of what is held, or 0; */
  #grants = new Float64Array();
  /** and whether it drains. */
  #isDraining = new Uint8Array();
  /** The drains under way; each ends within the drainTimeout. */
  readonly #drains = new Set<Promise<void>>();

  constructor(
    private readonly environment: Environment,
    private readonly hooks: CoordinatorHooks,
    private readonly drainTimeout: number,
  ) {}

  #revision = 0;

  /** Changes whenever what is held does. */
  get revision(): number {
    return this.#revision;
  }

  /** The holding of this item, whether or not its lease still runs. */
  get(item: number): Holding | undefined {
    return this.#held.get(item);
  }

  get held(): ReadonlyMap<number, Holding> {
    return this.#held;
  }

  /** Held, or its worker has not ended yet. */
  isBusy(item: number): boolean {
    return this.grantOf(item) > 0 || this.#isDraining[item] === 1;
  }

  /** The epoch that granted an item which is held, or 0. */
  grantOf(item: number): number {
    return this.#grants[item] ?? 0;
  }

  get isAnyBusy(): boolean {
    return this.#held.size > 0 || this.#draining.size > 0;
  }

  get isAnyDraining(): boolean {
    return this.#draining.size > 0;
  }

  /** Whether nothing of another total is held or drains. */
  allows(total: number): boolean {
    return isAllOf(this.#held, total) && isAllOf(this.#draining, total);
  }

  start(item: number, token: number, total: number, lease: Lease, parameter?: unknown): void {
    const holding = new Holding(item, token, total, lease, parameter);
    if (this.#grants.length !== total) {
      // Nothing of another total is held or drains, so nothing is forgotten.
      this.#grants = new Float64Array(total);
      this.#isDraining = new Uint8Array(total);
    }
    this.#held.set(item, holding);
    this.#grants[item] = token;
    this.#revision += 1;
    holding.worker = this.hooks.shardAcquired(holding);
  }

  /** From here on the items are not owned; their workers are told. `drain` has to follow. */
  letGo(holdings: Iterable<Holding>, reasonOf: ReasonOf): Release | undefined {
    const released: Holding[] = [];
    for (const holding of holdings) {
      if (!this.#held.delete(holding.item)) continue;
      this.#draining.set(holding.item, holding);
      this.#grants[holding.item] = 0;
      this.#isDraining[holding.item] = 1;
      released.push(holding);
    }
    if (released.length === 0) return undefined;
    this.#revision += 1;
    for (const holding of released) holding.abort(reasonOf(holding.item));
    return { holdings: released, since: this.environment.clock.monotonic() };
  }

  /** Waits for the workers, runs the hooks; one bound for all of it. Resolves when all has ended or overrun. */
  async drain(release: Release, announced: Promise<void>): Promise<void> {
    const drain = this.#drain(release, announced);
    this.#drains.add(drain);
    await drain;
    this.#drains.delete(drain);
  }

  /** Resolves when nothing drains any more. */
  async drained(): Promise<void> {
    await Promise.all(this.#drains);
  }

  async #drain({ holdings, since }: Release, announced: Promise<void>): Promise<void> {
    const { clock, log } = this.environment;
    const deadline = new Deadline(clock, since + this.drainTimeout - clock.monotonic());
    await deadline.meets(announced);
    const drain = new Drain(holdings, {
      release: ({ item, token, releaseReason: reason }) =>
        this.hooks.shardReleased({ item, token, reason }),
      ended: ({ item }) => {
        this.#draining.delete(item);
        this.#isDraining[item] = 0;
      },
    });
    if (!(await deadline.meets(drain.done))) {
      for (const { item } of drain.working) {
        log.error(
          `The worker of shard ${item} did not end within ${this.drainTimeout} ms after its signal; ` +
            'the shard is let go, and only its fencing token protects it now',
        );
      }
      drain.giveUpWorkers();
      // What begins too late is still let run as far as it can without waiting for anything.
      await endsWithin(clock, drain.done, 0);
      for (const { item } of drain.releasing) {
        log.error(`@OnShardReleased of shard ${item} overran the drainTimeout`);
      }
      drain.giveUp();
    }
    deadline.cancel();
  }
}

function isAllOf(holdings: ReadonlyMap<number, Holding>, total: number): boolean {
  // Holdings of two totals never mix, so the first speaks for all.
  for (const holding of holdings.values()) return holding.total === total;
  return true;
}

/** Shards that were let go together and have to be drained. */
export interface Release {
  readonly holdings: readonly Holding[];
  readonly since: number;
}

export type ReasonOf = (item: number) => ReleaseReason;
