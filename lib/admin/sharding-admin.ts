import {
  combineLatest,
  distinctUntilChanged,
  filter,
  firstValueFrom,
  map,
  merge,
  Observable,
  race,
} from 'rxjs';
import { aborted$, after, WakeableLoop } from '../coordinator/async.js';
import { decodeConfig, encodeConfig, type GroupConfig } from '../coordinator/group-config.js';
import type { HistoryEntry } from '../coordinator/history-entry.js';
import { Keyspace } from '../coordinator/keyspace.js';
import { requestReshard } from '../coordinator/reshard.js';
import { StrategyBook } from '../coordinator/strategy-book.js';
import type { ShardingStrategy } from '../interfaces/sharding-strategy.interface.js';
import { type Environment, silentLog, systemEnvironment } from '../registry/environment.js';
import { pathProblem } from '../registry/node-path.js';
import type { Registry } from '../registry/registry.js';
import { InvalidArgumentError, registryErrorCode } from '../registry/registry.errors.js';
import { SureWrites } from '../registry/sure-writes.js';
import { type ZooKeeperOptions, ZooKeeperRegistry } from '../registry/zookeeper/index.js';
import { ConfigConflictError, RefusedError, UncertainChangeError } from './admin.errors.js';
import * as changes from './changes.js';
import type { ConfigChange, ShardingTarget } from './changes.js';
import { diagnose, hasWork, LEADER_PATIENCE, list, type Problem } from './diagnose.js';
import { objectionsTo } from './objections.js';
import { holders, type JoiningInstance, predict, type Prediction } from './predict.js';
import { removeGroup } from './removal.js';
import { configOf, type GroupSnapshot, planOf, readSnapshot, recordsOf } from './snapshot.js';
import { type GroupStatus, statusOf } from './status.js';

/** How long to go on with a write that the store does not answer. */
const WRITE_TIMEOUT = 10_000;

/** How to reach a group from outside of an application. @publicApi */
export interface ShardingAdminOptions extends ZooKeeperOptions {
  /** @default 'dynamic-sharding' */
  readonly namespace?: string;
  /** The application's own strategies, for predictions. @default none */
  readonly strategies?: Readonly<Record<string, ShardingStrategy>>;
}

/** @publicApi */
export interface ChangeOptions {
  /** Do it although it looks like a mistake. @default false */
  readonly force?: boolean;
  /**
   * Asked before anything is written; false calls it off. Whoever changes the configuration while this
   * is being answered makes the change fail, so what was shown is what gets replaced. Without it nothing
   * is foretold. @default yes
   */
  readonly confirm?: (preview: ChangePreview) => boolean | Promise<boolean>;
}

/** What a change of the configuration would do. @publicApi */
export interface ChangePreview {
  readonly before: GroupConfig;
  readonly after: GroupConfig;
  readonly warnings: readonly string[];
  readonly prediction: Prediction;
}

/** What became of a change. @publicApi */
export interface ChangeResult {
  /** False if it was so already, or was called off. */
  readonly changed: boolean;
  readonly warnings: readonly string[];
  /** As it is now. */
  readonly configuration: GroupConfig;
}

/** What `plan` is to imagine. @publicApi */
export interface PlanQuestion {
  readonly join?: readonly JoiningInstance[];
  readonly leave?: readonly string[];
  readonly total?: number | 'instances';
  readonly weights?: Readonly<Record<string, number>>;
  readonly drain?: readonly string[];
}

/** How far a drain has come. @publicApi */
export interface DrainProgress {
  readonly instance: string;
  /** What it still holds. */
  readonly items: readonly number[];
  /** What the first of them waits for. */
  readonly why?: string;
}

/** @publicApi */
export interface WaitOptions {
  /** Milliseconds. @default for ever */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/**
 * Looks at a group and changes it, from inside an application (inject it) or from anywhere else
 * (`ShardingAdmin.connect`). It takes no part in the group. Each change of the configuration is one
 * conditional write: it happens as a whole or not at all.
 * @publicApi
 */
export class ShardingAdmin {
  readonly #keyspace: Keyspace;
  readonly #writes: SureWrites;
  readonly #strategies: StrategyBook;
  #ownsRegistry = false;

  constructor(
    private readonly registry: Registry,
    readonly namespace: string,
    private readonly environment: Environment,
    strategies: Readonly<Record<string, ShardingStrategy>> = {},
  ) {
    this.#keyspace = new Keyspace(namespace);
    this.#writes = new SureWrites(registry, environment);
    // That a strategy is unknown here is said where it matters, not with every look.
    this.#strategies = new StrategyBook(strategies, namespace, silentLog);
  }

  /** Connects to an ensemble; `close()` ends the connection. */
  static async connect(options: ShardingAdminOptions): Promise<ShardingAdmin> {
    const { namespace = 'dynamic-sharding', strategies, ...zookeeper } = options;
    const problem = namespace === '' ? 'it is empty' : pathProblem(`/${namespace}`);
    if (problem !== undefined) {
      const shown = JSON.stringify(namespace);
      throw new InvalidArgumentError(`The namespace ${shown} cannot be one: ${problem}`);
    }
    const environment = systemEnvironment();
    const where = { ...zookeeper, missingChroot: () => 'refuse' as const };
    const registry = new ZooKeeperRegistry(where, environment);
    const admin = new ShardingAdmin(registry, namespace, environment, strategies);
    admin.#ownsRegistry = true;
    try {
      await registry.connect();
    } catch (error) {
      await registry.close();
      throw error;
    }
    return admin;
  }

  /** Ends the connection, unless it is somebody else's. */
  async close(): Promise<void> {
    if (this.#ownsRegistry) await this.registry.close();
  }

  // Looking

  async status(): Promise<GroupStatus> {
    return statusOf(await this.#look(), this.#strategies);
  }

  /**
   * The status now, then whenever it has changed, marked as stale while the store does not answer. Errors
   * if the store cannot be read.
   */
  watch(): Observable<GroupStatus> {
    const isStale$ = this.registry.session$.pipe(map(({ state }) => state !== 'connected'));
    const status$ = this.#looks().pipe(map((snapshot) => statusOf(snapshot, this.#strategies)));
    return combineLatest([status$, isStale$]).pipe(
      map(([status, isStale]) => (isStale ? { ...status, stale: true as const } : status)),
      distinctUntilChanged((a, b) => isSame({ ...a, at: 0 }, { ...b, at: 0 })),
    );
  }

  /** What would happen if: nothing is written. */
  async plan(question: PlanQuestion): Promise<Prediction> {
    const { join, leave, total, weights = {}, drain = [] } = question;
    const change = changes.together([
      ...(total === undefined ? [] : [changes.setTotal(total)]),
      ...Object.entries(weights).map(([instance, weight]) =>
        changes.setWeight({ instance }, weight),
      ),
      ...drain.map((id) => changes.setDrained(id, true)),
    ]);
    const snapshot = await this.#look();
    const before = this.#configOf(snapshot);
    const wanted = checked(change, before);
    const joining = { ...change, instances: change.instances.filter((id) => !isNamed(join, id)) };
    this.#object(joining, before, wanted, snapshot);
    return predict(
      planOf(snapshot),
      recordsOf(snapshot),
      before,
      { ...(join ? { join } : {}), ...(leave ? { leave } : {}), change: () => wanted },
      this.#strategies,
    );
  }

  /** The last changes, newest first. */
  async history(limit = Infinity): Promise<HistoryEntry[]> {
    const { history } = await this.#look();
    return history.toReversed().slice(0, limit);
  }

  /** What is wrong with the group; it takes a while where its leader has to be watched. */
  async doctor({ signal }: Pick<WaitOptions, 'signal'> = {}): Promise<Problem[]> {
    const earlier = await this.#look();
    if (!hasWork(earlier, this.#strategies)) return diagnose(earlier, this.#strategies);
    const rest = after(this.environment.clock, LEADER_PATIENCE);
    await firstValueFrom(race([rest, ...(signal ? [aborted$(signal)] : [])]));
    return diagnose(await this.#look(), this.#strategies, earlier);
  }

  // Asking for something

  /** Asks for a reshard; resolves when the request is stored. */
  async reshard(): Promise<void> {
    await this.#look();
    await requestReshard(this.registry, this.#keyspace.necessary);
  }

  setTotal(total: number | 'instances', options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setTotal(total), options);
  }

  setStrategy(name: string, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setStrategy(name), options);
  }

  /** Hands items a parameter, with their next grant; undefined takes it away. */
  setParam(
    items: readonly number[],
    parameter: unknown,
    options?: ChangeOptions,
  ): Promise<ChangeResult> {
    return this.#change(() => changes.setParam(items, parameter), options);
  }

  /** Of an instance or of items; undefined takes back what was said. */
  setWeight(
    target: ShardingTarget,
    weight: number | undefined,
    options?: ChangeOptions,
  ): Promise<ChangeResult> {
    return this.#change(() => changes.setWeight(target, weight), options);
  }

  /** The labels that an instance must have to hold these items; undefined: any will do. */
  setNeeds(
    items: readonly number[],
    needs: Readonly<Record<string, string>> | undefined,
    options?: ChangeOptions,
  ): Promise<ChangeResult> {
    return this.#change(() => changes.setNeeds(items, needs), options);
  }

  /** The label over whose values items are spread first; undefined: none. */
  setSpread(label: string | undefined, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setSpread(label), options);
  }

  /** How many items may move at once, or which share of them; undefined: all. */
  setLimit(maxMoves: GroupConfig['maxMoves'], options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setLimit(maxMoves), options);
  }

  pin(items: readonly number[], instance: string, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setPin(items, instance), options);
  }

  unpin(items: readonly number[], options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setPin(items, undefined), options);
  }

  /** An instance that holds nothing, or items that nobody holds. */
  disable(target: ShardingTarget, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setDisabled(target, true), options);
  }

  enable(target: ShardingTarget, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setDisabled(target, false), options);
  }

  /** It keeps what it has and gets nothing new. */
  cordon(instance: string, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setCordoned(instance, true), options);
  }

  uncordon(instance: string, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setCordoned(instance, false), options);
  }

  /** Takes everything from an instance, in good order; `whenEmpty` tells when that is done. */
  drain(instance: string, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setDrained(instance, true), options);
  }

  undrain(instance: string, options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setDrained(instance, false), options);
  }

  /** From now on what is held stays where it is; what nobody holds is still given out. */
  pause(options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setPaused(true), options);
  }

  resume(options?: ChangeOptions): Promise<ChangeResult> {
    return this.#change(() => changes.setPaused(false), options);
  }

  /**
   * Resolves when an instance holds nothing any more, with what it still holds if the time is over
   * first. Says how far it is whenever that changes.
   */
  async whenEmpty(
    instance: string,
    { timeout = Infinity, signal }: WaitOptions = {},
    onProgress: (progress: DrainProgress) => void = () => {},
  ): Promise<DrainProgress> {
    // Looked at in any case, so that whoever does not wait is not told that nothing is left.
    let progress = this.#progressOf(await this.#look(), instance);
    const empty$ = this.#looks().pipe(
      map((snapshot) => this.#progressOf(snapshot, instance)),
      distinctUntilChanged<DrainProgress>(isSame),
      filter((seen) => {
        progress = seen;
        onProgress(seen);
        return seen.items.length === 0;
      }),
    );
    const { clock } = this.environment;
    const ends: Observable<unknown>[] = [empty$];
    if (timeout !== Infinity) ends.push(after(clock, timeout));
    if (signal) ends.push(aborted$(signal));
    await firstValueFrom(merge(...ends));
    return progress;
  }

  #progressOf(snapshot: GroupSnapshot, instance: string): DrainProgress {
    const items = itemsOf(snapshot, instance);
    const { waits } = statusOf(snapshot, this.#strategies, []);
    const why = waits.find(({ from }) => from === instance)?.why;
    return { instance, items, ...(why === undefined ? {} : { why }) };
  }

  /**
   * Deletes all that a group left in the store, only if nobody lives in it. `confirm` hears how many
   * milliseconds the leases of those that crashed are waited out first.
   */
  async remove({
    confirm = () => true,
  }: { confirm?: (wait: number) => boolean | Promise<boolean> } = {}): Promise<boolean> {
    const seen = await this.#look();
    this.#assertDeserted(seen);
    const firstSeen = this.environment.clock.monotonic();
    const wait = remainingLease(seen);
    if (!(await confirm(wait))) return false;
    // Whoever crashed while it held something may work on until its lease has run out for sure.
    const left = firstSeen + wait - this.environment.clock.monotonic();
    if (left > 0) await firstValueFrom(after(this.environment.clock, left));
    const snapshot = await this.#look();
    this.#assertDeserted(snapshot);
    await removeGroup(this.registry, this.#keyspace, snapshot);
    return true;
  }

  #assertDeserted({ instances, leases, candidates }: GroupSnapshot): void {
    const living = [...new Set([...instances, ...leases, ...candidates].map(({ id }) => id))];
    if (living.length === 0) return;
    throw new RefusedError(
      `${JSON.stringify(this.namespace)} is lived in by ${list(living)}: stop these instances first`,
    );
  }

  /** The one way in which a configuration changes. */
  async #change(
    make: () => ConfigChange,
    { force = false, confirm }: ChangeOptions = {},
  ): Promise<ChangeResult> {
    const change = make();
    const snapshot = await this.#look();
    const before = this.#configOf(snapshot);
    const wanted = checked(change, before);
    const warnings = this.#object(change, before, wanted, snapshot, force);
    const data = encodeConfig(wanted);
    if (data.equals(encodeConfig(before)))
      return { changed: false, warnings, configuration: before };
    if (confirm) {
      const members = recordsOf(snapshot);
      const what = { change: () => wanted };
      const prediction = await predict(planOf(snapshot), members, before, what, this.#strategies);
      const isWanted = await confirm({ before, after: wanted, warnings, prediction });
      if (!isWanted) return { changed: false, warnings, configuration: before };
    }
    await this.#write(data, snapshot);
    return { changed: true, warnings, configuration: wanted };
  }

  async #write(data: Buffer, { config }: GroupSnapshot): Promise<void> {
    if (config.kind !== 'config') return;
    try {
      await this.#writes.set(this.#keyspace.config, data, config.version, {
        timeout: WRITE_TIMEOUT,
      });
    } catch (error) {
      const code = registryErrorCode(error);
      if (code === 'TIMED_OUT') throw new UncertainChangeError(WRITE_TIMEOUT, error);
      if (code === 'BAD_VERSION' || code === 'NO_NODE') throw new ConfigConflictError();
      throw error;
    }
  }

  /** Throws what speaks against it, and gives back what is worth knowing. */
  #object(
    change: ConfigChange,
    before: GroupConfig,
    wanted: GroupConfig,
    snapshot: GroupSnapshot,
    force = false,
  ): readonly string[] {
    const { refusals, warnings } = objectionsTo(change, before, wanted, snapshot);
    if (refusals.length === 0) return warnings;
    if (!force) throw new RefusedError(refusals.join('; '));
    return [...refusals, ...warnings];
  }

  #configOf(snapshot: GroupSnapshot): GroupConfig {
    const config = configOf(snapshot);
    if (config) return config;
    const problem =
      snapshot.config.kind === 'unreadable'
        ? `cannot be read (${snapshot.config.reason}): mend the node ${this.#keyspace.config} by hand`
        : 'is not there yet: an instance has to start first';
    throw new RefusedError(`The configuration ${problem}`);
  }

  async #look(): Promise<GroupSnapshot> {
    await this.registry.connect();
    return readSnapshot(this.registry, this.environment, this.namespace);
  }

  /** A look now, and after each change of what says who does what. */
  #looks(): Observable<GroupSnapshot> {
    return new Observable((subscriber) => {
      const { registry } = this;
      const loop = new WakeableLoop(async () => {
        try {
          subscriber.next(await this.#look());
        } catch (error) {
          // A connection that breaks comes back, and the views with it.
          if (isPassing(error))
            retry.add(after(this.environment.clock, 1_000).subscribe(() => loop.wake()));
          else subscriber.error(error);
        }
      });
      const { plan, config, instances, latches } = this.#keyspace;
      const retry = merge(
        ...[plan, config].map((path) => registry.watch(path)),
        ...[instances, latches].map((path) => registry.watchChildren(path)),
      ).subscribe({
        next: () => loop.wake(),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
      loop.wake();
      return () => {
        retry.unsubscribe();
        void loop.stop();
      };
    });
  }
}

/** What the change makes of it, as it will be read again; throws `InvalidConfigError`. */
function checked(change: ConfigChange, before: GroupConfig): GroupConfig {
  return decodeConfig(encodeConfig(change.apply(before)));
}

function itemsOf(snapshot: GroupSnapshot, id: string): number[] {
  const plan = planOf(snapshot);
  if (!plan) return [];
  const items: number[] = [];
  plan.owners.forEach((owner, item) => {
    if (plan.members[owner]?.id === id) items.push(item);
  });
  return items;
}

/** The margin is the one that instances take unless told otherwise. */
function remainingLease(snapshot: GroupSnapshot): number {
  const leases = holders(planOf(snapshot)).map((holder) => holder?.lease ?? 0);
  const longest = leases.reduce((most, lease) => Math.max(most, lease), 0);
  return longest === 0 ? 0 : longest + Math.max(500, longest / 10);
}

const isNamed = (named: readonly { readonly id: string }[] | undefined, id: string): boolean =>
  named?.some((one) => one.id === id) ?? false;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const PASSING = new Set(['CONNECTION_LOST', 'TIMED_OUT', 'SESSION_LOST', 'UNREACHABLE']);
const isPassing = (error: unknown): boolean => PASSING.has(registryErrorCode(error) ?? '');
