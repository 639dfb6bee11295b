import {
  BehaviorSubject,
  distinctUntilChanged,
  filter,
  firstValueFrom,
  from,
  map,
  type Observable,
  race,
  take,
} from 'rxjs';
import type { ShardingStatus } from '../interfaces/sharding-values.interface.js';
import type { Clock, Log } from '../registry/environment.js';
import { assertTimeout } from '../registry/operation-arguments.js';
import type { Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { aborted$, after } from './async.js';
import { ShardingClosedError, ShardingTimeoutError } from './coordinator.errors.js';
import type { CoordinatorOptions } from './coordinator.types.js';

/** What a start works with. */
export interface StartParts {
  readonly registry: Registry;
  readonly startup: CoordinatorOptions['startup'];
  readonly log: Log;
  /** What an application that does not wait is without at first, such as `its shards come later`. */
  readonly later: string;
  /** Undoes a start that failed. */
  readonly stop: () => Promise<void>;
}

/** Undefined if all is well. */
type Outcome = Observable<Error | undefined>;

/** Whom an operator lets hold nothing takes part all the same. */
const READY: ReadonlySet<ShardingStatus> = new Set(['ready', 'drained']);

/** How far a process has come with its group, for those who wait for it. */
export class Readiness {
  readonly #status = new BehaviorSubject<ShardingStatus>('connecting');
  readonly #isAdmitted = new BehaviorSubject(false);
  /** Why the first attempt failed for good. */
  readonly #failure = new BehaviorSubject<Error | undefined>(undefined);

  constructor(
    private readonly clock: Clock,
    private readonly status: () => ShardingStatus,
  ) {}

  get status$(): Observable<ShardingStatus> {
    return this.#status.pipe(distinctUntilChanged());
  }

  /** Something that the status is made of may have changed. */
  update(): void {
    const status = this.status();
    if (this.#status.value !== status) this.#status.next(status);
    if (READY.has(status)) this.#failure.next(undefined);
  }

  /** The store was reached and has let us in. */
  admit(): void {
    this.#isAdmitted.next(true);
  }

  /** It will not work as it was asked for. Once it has worked that is no reason to give up waiting. */
  fail(error: Error): void {
    if (this.#status.value === 'connecting') this.#failure.next(error);
  }

  complete(): void {
    this.#status.complete();
  }

  /**
   * Connects. With `startup.wait` it resolves when ready; without it, when the store was reached, or
   * with a warning when it was not: then everything follows once it can be.
   */
  async start({ registry, startup, log, later, stop }: StartParts): Promise<void> {
    try {
      await this.#begin(registry, startup);
    } catch (error) {
      const isLate =
        registryErrorCode(error) === 'UNREACHABLE' || error instanceof ShardingTimeoutError;
      if (!startup.wait && isLate) {
        return log.warn(`${(error as Error).message}. The application starts; ${later}`);
      }
      await stop();
      throw error;
    }
  }

  async whenReady(options: { timeout?: number; signal?: AbortSignal } = {}): Promise<void> {
    const { timeout = Infinity, signal } = options;
    assertTimeout('whenReady()', timeout);
    const ready = this.#status.pipe(
      filter((status) => READY.has(status)),
      map(() => undefined),
    );
    const outcomes: Outcome[] = [ready, this.#failures];
    if (timeout !== Infinity) outcomes.push(this.#late(timeout));
    if (signal) {
      outcomes.push(aborted$(signal).pipe(map(() => new ShardingTimeoutError('Aborted'))));
    }
    await this.#first(outcomes);
  }

  /** One deadline for all of it; what is still under way after it ends with the close. */
  async #begin(registry: Registry, { wait, timeout }: StartParts['startup']): Promise<void> {
    const begin = async (): Promise<undefined> => {
      await registry.connect();
      await this.#whenAdmitted();
      if (wait) await this.whenReady();
    };
    await this.#first([from(begin()), this.#late(timeout)]);
  }

  async #whenAdmitted(): Promise<void> {
    const admitted = this.#isAdmitted.pipe(
      filter(Boolean),
      map(() => undefined),
    );
    await this.#first([admitted, this.#failures]);
  }

  /** Ends as the first of these does, or with an error on close. */
  async #first(outcomes: readonly Outcome[]): Promise<void> {
    const closed = this.#status.pipe(
      filter((status) => status === 'closed'),
      map(() => new ShardingClosedError()),
    );
    const problem = await firstValueFrom(race([closed, ...outcomes]).pipe(take(1)), {
      defaultValue: new ShardingClosedError(),
    });
    if (problem) throw problem;
  }

  #late(timeout: number): Outcome {
    const late = (): Error =>
      new ShardingTimeoutError(`Not ready within ${timeout} ms: the status is '${this.status()}'`);
    return after(this.clock, timeout).pipe(map(late));
  }

  get #failures(): Observable<Error> {
    return this.#failure.pipe(filter((failure) => failure !== undefined));
  }
}
