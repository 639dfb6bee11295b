import { BehaviorSubject, type Observable, type Subscription } from 'rxjs';
import type { Environment } from '../registry/environment.js';
import type { NodeSnapshot, NodeStat, OperationOptions, Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { lastingWatch } from './lasting-watch.js';
import type { Plan } from './plan.js';
import { decodePlan, UnreadablePlanError } from './plan-codec.js';

/** What is known of the plan node. */
export type PlanState =
  /** Not read yet. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'plan';
      readonly plan: Plan;
      readonly version: number;
      /** The creation id of its node. */
      readonly node: string;
    }
  /** Something else stands there; `isNewer` if it is a plan of a later release. */
  | {
      readonly kind: 'unreadable';
      readonly version: number;
      readonly node: string;
      readonly isNewer: boolean;
      readonly reason: string;
    };

/** What a look at the plan node can find. */
export type PlanFinding = Exclude<PlanState, { readonly kind: 'unknown' }>;

/** Our copy of the plan, from the live view and from our own writes, whichever is newer. */
export class PlanStore {
  readonly #state = new BehaviorSubject<PlanState>({ kind: 'unknown' });
  readonly #subscription: Subscription;
  #modifiedId = -1n;

  constructor(
    private readonly registry: Registry,
    { clock, log }: Environment,
    private readonly path: string,
  ) {
    this.#subscription = lastingWatch(registry, clock, path, ({ message, stack }) =>
      log.error(`The plan cannot be seen: ${message}`, stack),
    ).subscribe((node) => this.#learnNode(node));
  }

  get state(): PlanState {
    return this.#state.value;
  }

  get plan(): Plan | undefined {
    const state = this.#state.value;
    return state.kind === 'plan' ? state.plan : undefined;
  }

  /** The current state first, then every change. */
  get state$(): Observable<PlanState> {
    return this.#state.asObservable();
  }

  /** Our own write was committed. */
  learn(plan: Plan, stat: NodeStat): void {
    if (stat.modifiedId <= this.#modifiedId) return;
    this.#modifiedId = stat.modifiedId;
    this.#state.next(found(plan, stat));
  }

  /** Reads the node again, for whoever found its copy out of date. */
  async refresh(options: OperationOptions): Promise<void> {
    await this.registry.sync(this.path, options);
    try {
      this.#learnNode(await this.registry.get(this.path, options));
    } catch (error) {
      if (registryErrorCode(error) !== 'NO_NODE') throw error;
      this.#learnNode(undefined);
    }
  }

  close(): void {
    this.#subscription.unsubscribe();
    this.#state.complete();
  }

  #learnNode(node: NodeSnapshot | undefined): void {
    if (!node) {
      if (this.state.kind !== 'absent') this.#state.next({ kind: 'absent' });
      return;
    }
    // Reads of one session never go back in time, but one may be overtaken by our own write.
    if (node.stat.modifiedId <= this.#modifiedId) return;
    this.#modifiedId = node.stat.modifiedId;
    this.#state.next(readPlan(node));
  }
}

/** The plan as it is to be written over what was found: it says which node it is for. */
export function addressed(plan: Plan, over: PlanState): Plan {
  const node = over.kind === 'plan' || over.kind === 'unreadable' ? over.node : undefined;
  return { ...plan, node };
}

export function readPlan(node: NodeSnapshot | undefined): PlanFinding {
  if (!node) return { kind: 'absent' };
  try {
    return found(decodePlan(node.data), node.stat);
  } catch (error) {
    if (!(error instanceof UnreadablePlanError)) throw error;
    return unreadable(node.stat, error);
  }
}

function found(plan: Plan, stat: NodeStat): PlanFinding {
  const node = String(stat.createdId);
  const isInItsPlace = plan.node === undefined ? stat.version === 0 : plan.node === node;
  if (isInItsPlace) return { kind: 'plan', plan, version: stat.version, node };
  const reason =
    'its node was deleted and made anew, and a former leader wrote over it what it had planned before';
  return unreadable(stat, new UnreadablePlanError(reason));
}

function unreadable(
  { version, createdId }: NodeStat,
  { isNewer, message: reason }: UnreadablePlanError,
): PlanFinding {
  return { kind: 'unreadable', version, node: String(createdId), isNewer, reason };
}
