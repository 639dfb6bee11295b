import type { Environment } from '../registry/environment.js';
import type { OperationOptions, Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { SerialQueue } from './async.js';
import type { GroupConfig } from './group-config.js';
import {
  decodeHistory,
  encodeHistory,
  type HistoryCauses,
  type HistoryEntry,
  MOST_NAMED,
} from './history-entry.js';
import type { Plan } from './plan.js';
import type { Step } from './planner.js';

/** How often an entry is tried to be added while others write the history too. */
const ATTEMPTS = 3;

/** A rebalance as the leader has seen it so far. */
interface Rebalance {
  readonly since: number;
  /** The plan before it; undefined if there was none, or it had not settled when we began to lead. */
  readonly base: Plan | undefined;
  readonly config: GroupConfig | undefined;
  readonly inherited: boolean;
  readonly dead: Set<string>;
  asked: boolean;
  lookedAt: number;
  isWaiting: boolean;
  isDraining: boolean;
  waiting: number;
  draining: number;
}

/**
 * Keeps the history of a group, for people: each rebalance is one entry when it has settled. Written
 * beside the protocol, never awaited and never read to decide.
 */
export class Chronicle {
  readonly #queue = new SerialQueue();
  #rebalance: Rebalance | undefined;
  /** The configuration that the last settled plan was made by. */
  #config: GroupConfig | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
    private readonly path: string,
    private readonly leader: string,
    private readonly options: () => OperationOptions,
  ) {}

  /** The leader has looked at everything: what does it have to do, and what does it wait for? */
  saw(before: Plan | undefined, { plan, waiting }: Step, config: GroupConfig): void {
    const isWaiting = waiting.dead.length > 0;
    const isDraining = waiting.acknowledgements.length > 0;
    if (!plan && !isWaiting && !isDraining && !waiting.permission) {
      // What was to come has been called off, if anything.
      this.#rebalance = undefined;
      this.#config = config;
      return;
    }
    const now = this.environment.clock.monotonic();
    const rebalance = (this.#rebalance ??= this.#begin(before, now));
    const elapsed = now - rebalance.lookedAt;
    if (rebalance.isWaiting) rebalance.waiting += elapsed;
    if (rebalance.isDraining) rebalance.draining += elapsed;
    Object.assign(rebalance, { lookedAt: now, isWaiting, isDraining });
    for (const incarnation of waiting.dead) rebalance.dead.add(incarnation);
  }

  /** The leader has written a plan. */
  wrote(plan: Plan, config: GroupConfig, isAsked: boolean): void {
    const rebalance = this.#rebalance;
    if (!rebalance) return;
    rebalance.asked ||= isAsked;
    if (!plan.settled) return;
    this.#rebalance = undefined;
    this.#config = config;
    const entry = this.#entryOf(rebalance, plan, config);
    if (isWorthTelling(entry)) void this.#queue.add(() => this.#append(entry));
  }

  #begin(before: Plan | undefined, now: number): Rebalance {
    return {
      since: now,
      base: before?.settled ? before : undefined,
      config: this.#config,
      inherited: before?.settled === false,
      dead: new Set(),
      asked: false,
      lookedAt: now,
      isWaiting: false,
      isDraining: false,
      waiting: 0,
      draining: 0,
    };
  }

  #entryOf(rebalance: Rebalance, plan: Plan, config: GroupConfig): HistoryEntry {
    const { clock } = this.environment;
    const { base, since, waiting, draining } = rebalance;
    return {
      at: Math.floor(clock.wall()),
      epoch: plan.epoch,
      leader: this.leader,
      why: causesOf(rebalance, plan, config),
      total: plan.total,
      instances: plan.members.length,
      moved: countMoved(base, plan),
      took: {
        all: Math.round(clock.monotonic() - since),
        waiting: Math.round(waiting),
        draining: Math.round(draining),
      },
    };
  }

  async #append(entry: HistoryEntry): Promise<void> {
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await this.#tryToAppend(entry)) return;
      }
    } catch (error) {
      this.environment.log.debug(`The history was not written: ${(error as Error).message}`);
    }
  }

  async #tryToAppend(entry: HistoryEntry): Promise<boolean> {
    const options = this.options();
    try {
      const { data, stat } = await this.registry.get(this.path, options);
      const entries = [...decodeHistory(data), entry];
      await this.registry.set(this.path, encodeHistory(entries), stat.version, options);
      return true;
    } catch (error) {
      const code = registryErrorCode(error);
      if (code === 'BAD_VERSION') return false;
      if (code !== 'NO_NODE') throw error;
    }
    try {
      await this.registry.create(this.path, encodeHistory([entry]), { ...options, parents: true });
      return true;
    } catch (error) {
      if (registryErrorCode(error) !== 'NODE_EXISTS') throw error;
      return false;
    }
  }
}

function causesOf(rebalance: Rebalance, plan: Plan, config: GroupConfig): HistoryCauses {
  const { base, dead, asked, inherited } = rebalance;
  const before = base?.members ?? [];
  const known = new Set(before.map(({ incarnation }) => incarnation));
  const present = new Set(plan.members.map(({ incarnation }) => incarnation));
  const gone = before.filter(({ incarnation }) => !present.has(incarnation));
  const ids = (members: Plan['members']): string[] =>
    members.slice(0, MOST_NAMED).map(({ id }) => id);
  return {
    joined: ids(plan.members.filter(({ incarnation }) => !known.has(incarnation))),
    left: ids(gone.filter(({ incarnation }) => !dead.has(incarnation))),
    crashed: ids(gone.filter(({ incarnation }) => dead.has(incarnation))),
    ...(base && base.total !== plan.total ? { previousTotal: base.total } : {}),
    configured: rebalance.config ? changedKeys(rebalance.config, config) : [],
    asked,
    inherited,
  };
}

function changedKeys(before: GroupConfig, after: GroupConfig): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof GroupConfig>;
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}

/** Items with another holder than before, or with one where they had none. */
function countMoved(before: Plan | undefined, after: Plan): number {
  const isComparable = before?.total === after.total;
  let moved = 0;
  for (let item = 0; item < after.total; item++) {
    const holder = after.members[after.owners[item]!]?.incarnation;
    if (holder === undefined) continue;
    const former = isComparable ? before.members[before.owners[item]!]?.incarnation : undefined;
    if (holder !== former) moved += 1;
  }
  return moved;
}

function isWorthTelling({ why, moved }: HistoryEntry): boolean {
  const { joined, left, crashed, configured, asked } = why;
  const changes = joined.length + left.length + crashed.length + configured.length;
  return moved > 0 || changes > 0 || asked;
}
