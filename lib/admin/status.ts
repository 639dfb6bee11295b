import type { GroupConfig } from '../coordinator/group-config.js';
import { memberIndex, type Plan } from '../coordinator/plan.js';
import { diagnose, type Problem } from './diagnose.js';
import { explain, type Wait } from './explain.js';
import type { Strategies } from './predict.js';
import {
  configOf,
  type GroupSnapshot,
  leaderOf,
  planOf,
  recordsOf,
  type SeenInstance,
} from './snapshot.js';
import { type InstanceState, standingOf, weightOf } from './standing.js';

/** How a group is, at one moment. What does not apply is left out; all of it can be JSON. @publicApi */
export interface GroupStatus {
  readonly namespace: string;
  /** When it was looked at, in milliseconds since 1970. */
  readonly at: number;
  /** Of `watch`: the store does not answer at present, and this is how it was. */
  readonly stale?: true;
  /**
   * - `settled`: everything is where it should be, or will stay where it is (paused, unplaced, reserved);
   * - `moving`: it is not, and `waits` says why;
   * - `unplanned`: there is no plan (yet);
   * - `unreadable`: there is one that this release cannot read, or that was corrupted.
   */
  readonly state: 'settled' | 'moving' | 'unplanned' | 'unreadable';
  /** How many items there are. */
  readonly total: number;
  /** The total that everybody is letting go for. */
  readonly nextTotal?: number;
  /** Of the plan: grows with each change. */
  readonly epoch?: number;
  readonly leader?: LeaderStatus;
  readonly instances: readonly InstanceStatus[];
  /** What is on the move, or has no holder, and why. */
  readonly waits: readonly Wait[];
  readonly configuration?: GroupConfig;
  readonly problems: readonly Problem[];
}

/** @publicApi */
export interface LeaderStatus {
  readonly id: string;
  /** The epoch at which it took office; left out while it has not. */
  readonly term?: number;
  /** How many others would lead if it went. */
  readonly deputies: number;
}

/** @publicApi */
export interface InstanceStatus {
  readonly id: string;
  readonly state: InstanceState;
  readonly leads: boolean;
  readonly address?: string;
  /** The one that counts. */
  readonly weight?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** How long its lease is, in milliseconds. */
  readonly lease?: number;
  /** Whether it renews its lease, because it holds something or leads. */
  readonly renews: boolean;
  /** What it holds, and what it was asked to let go of. */
  readonly items: readonly number[];
  readonly releasing: readonly number[];
}

export function statusOf(
  snapshot: GroupSnapshot,
  strategies: Strategies,
  problems: readonly Problem[] = diagnose(snapshot, strategies),
): GroupStatus {
  const plan = planOf(snapshot);
  const config = configOf(snapshot);
  const leader = leaderStatus(snapshot, plan);
  const waits = plan && config ? explain(plan, recordsOf(snapshot), config, strategies) : [];
  return {
    namespace: snapshot.namespace,
    at: snapshot.at,
    state: stateOf(snapshot, waits),
    total: plan?.total ?? 0,
    ...(plan && plan.nextTotal !== plan.total ? { nextTotal: plan.nextTotal } : {}),
    ...(plan ? { epoch: plan.epoch } : {}),
    ...(leader ? { leader } : {}),
    instances: instancesOf(snapshot, plan, config),
    waits,
    ...(config ? { configuration: config } : {}),
    problems,
  };
}

/** These will still be so when nothing else happens. */
const LASTING = new Set<Wait['reason']>(['disabled', 'needs', 'nobody', 'paused', 'reserved']);

function stateOf({ plan }: GroupSnapshot, waits: readonly Wait[]): GroupStatus['state'] {
  if (plan.kind === 'absent') return 'unplanned';
  if (plan.kind === 'unreadable') return 'unreadable';
  const isResting = plan.plan.settled || waits.length > 0;
  return isResting && waits.every(({ reason }) => LASTING.has(reason)) ? 'settled' : 'moving';
}

function leaderStatus(snapshot: GroupSnapshot, plan: Plan | undefined): LeaderStatus | undefined {
  const id = leaderOf(snapshot);
  if (id === undefined) return undefined;
  const deputies = snapshot.candidates.length - 1;
  const office = plan?.office;
  const isInOffice = office?.id === id && office.lease > 0;
  return { id, ...(isInOffice ? { term: office.term } : {}), deputies };
}

function instancesOf(
  snapshot: GroupSnapshot,
  plan: Plan | undefined,
  config: GroupConfig | undefined,
): InstanceStatus[] {
  const holdings = new Holdings(plan);
  const leader = leaderOf(snapshot);
  const renewing = new Set(snapshot.leases.flatMap(({ id, mayHold }) => (mayHold ? id : [])));
  const registered = snapshot.instances.map((instance) => ({
    id: instance.id,
    leads: instance.id === leader,
    renews: renewing.has(instance.id) || instance.id === leader,
    ...registration(instance, config),
    ...holdings.of(instance.record?.incarnation),
  }));
  const known = new Set(recordsOf(snapshot).map(({ incarnation }) => incarnation));
  const gone = (plan?.members ?? [])
    .filter(({ incarnation }) => !known.has(incarnation))
    .map(({ id, incarnation, lease, address }) => ({
      ...{ id, state: 'gone' as const, leads: false, renews: false, lease },
      ...(address === undefined ? {} : { address }),
      ...holdings.of(incarnation),
    }))
    .filter(({ items, releasing }) => items.length + releasing.length > 0);
  const present = new Set([...registered, ...gone].map(({ id }) => id));
  const away = (plan?.away ?? [])
    .filter(({ id }) => !present.has(id))
    .map(({ id, weight, labels }) => ({
      ...{ id, state: 'away' as const, leads: false, renews: false, weight, labels },
      ...{ items: [], releasing: [] },
    }));
  return [...registered, ...gone, ...away].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function registration(
  { id, record }: SeenInstance,
  config: GroupConfig | undefined,
): Pick<InstanceStatus, 'state' | 'address' | 'weight' | 'labels' | 'lease'> {
  if (!record) return { state: 'unreadable' };
  const said = config?.instances[id];
  const { address, labels, lease } = record;
  return {
    state: standingOf(record, said),
    ...(address === undefined ? {} : { address }),
    ...{ weight: weightOf(record, said), labels, lease },
  };
}

/** Who has which items, gathered in one go over the plan. */
class Holdings {
  readonly #items: number[][];
  readonly #releasing: number[][];

  constructor(private readonly plan: Plan | undefined) {
    this.#items = plan?.members.map(() => []) ?? [];
    this.#releasing = plan?.members.map(() => []) ?? [];
    plan?.owners.forEach((owner, item) => {
      const list = plan.marks[item]! > 0 ? this.#releasing : this.#items;
      list[owner]?.push(item);
    });
  }

  of(incarnation: string | undefined): Pick<InstanceStatus, 'items' | 'releasing'> {
    const index = this.plan && incarnation !== undefined ? memberIndex(this.plan, incarnation) : -1;
    return { items: this.#items[index] ?? [], releasing: this.#releasing[index] ?? [] };
  }
}
