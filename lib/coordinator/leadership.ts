import { BehaviorSubject, distinctUntilChanged, type Observable } from 'rxjs';
import type { Environment } from '../registry/environment.js';
import { endsWithin } from './async.js';
import type { CoordinatorHooks } from './coordinator.types.js';
import type { Lease } from './lease.js';

interface Term {
  readonly lease: Lease;
  readonly controller: AbortController;
  readonly work: Promise<void>;
}

/** Our own word that we lead, over all sessions of this process: one term at a time. */
export class Leadership {
  readonly #isLeader = new BehaviorSubject(false);
  #term: Term | undefined;
  #ending: Promise<void> = Promise.resolve();

  constructor(
    private readonly environment: Environment,
    private readonly hooks: CoordinatorHooks,
    private readonly limit: number,
  ) {}

  /** Covered by the lease: a process that wakes from a pause does not lead. */
  get isLeader(): boolean {
    return this.#term?.lease.isValid ?? false;
  }

  get changes$(): Observable<boolean> {
    return this.#isLeader.pipe(distinctUntilChanged());
  }

  /** Begins a term, after the former one's @OnLeader has ended or overrun. */
  async begin(term: number, lease: Lease, isStillWanted: () => boolean): Promise<void> {
    await this.#ending;
    if (!isStillWanted() || this.#term) return;
    const controller = new AbortController();
    const context = { term: BigInt(term), signal: controller.signal };
    // In this order: who is told that it leads must also find so when it asks.
    this.#term = { lease, controller, work: AT_ONCE };
    this.#isLeader.next(true);
    this.#term = { lease, controller, work: this.hooks.leader(context) };
  }

  /** Ends the term, if there is one: no more leader, signal, hook awaited, @OnLeaderLost. */
  end(): Promise<void> {
    const term = this.#term;
    if (term) {
      this.#term = undefined;
      this.#isLeader.next(false);
      term.controller.abort();
      this.#ending = this.#conclude(term);
    }
    return this.#ending;
  }

  complete(): void {
    this.#isLeader.complete();
  }

  async #conclude({ work }: Term): Promise<void> {
    const { clock, log } = this.environment;
    if (!(await endsWithin(clock, work, this.limit))) {
      log.error(
        `@OnLeader did not end within ${this.limit} ms after its signal; going on without it`,
      );
    }
    if (!(await endsWithin(clock, this.hooks.leaderLost(), this.limit))) {
      log.error(`@OnLeaderLost did not end within ${this.limit} ms; going on without it`);
    }
  }
}

const AT_ONCE = Promise.resolve();
