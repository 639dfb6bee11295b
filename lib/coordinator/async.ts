import { setMaxListeners } from 'node:events';
import { Observable } from 'rxjs';
import type { Clock, Timer } from '../registry/environment.js';

/** Emits once and completes after the delay; on the given clock, so that simulations own it. */
export function after(clock: Clock, delay: number): Observable<void> {
  return new Observable((subscriber) => {
    const timer = clock.setTimer(() => {
      subscriber.next();
      subscriber.complete();
    }, delay);
    return () => timer.cancel();
  });
}

/** Emits once when the signal aborts, at once if it has. */
export function aborted$(signal: AbortSignal): Observable<void> {
  return new Observable((subscriber) => {
    const onAbort = (): void => {
      subscriber.next();
      subscriber.complete();
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    return () => signal.removeEventListener('abort', onAbort);
  });
}

/** The scope of many operations at once: as many may listen to its end as there are. */
export function newScope(): AbortController {
  const scope = new AbortController();
  setMaxListeners(0, scope.signal);
  return scope;
}

/** One moment that any number of jobs may have to meet, with one timer for all of them. */
export class Deadline {
  readonly #missed: Promise<false>;
  #timer: Timer;
  #isMissed = false;

  constructor(
    private readonly clock: Clock,
    limit: number,
  ) {
    let miss: () => void;
    this.#missed = new Promise((resolve) => (miss = () => resolve(false)));
    this.#timer = clock.setTimer(
      () => {
        this.#isMissed = true;
        miss();
      },
      Math.max(limit, 0),
    );
  }

  /** Resolves to true when the work has ended, to false when the time is over first. Never rejects. */
  meets(work: Promise<unknown>): Promise<boolean> {
    // Work that begins too late is still let run as far as it can without waiting for anything.
    if (this.#isMissed) return endsWithin(this.clock, work, 0);
    const ended = (): true => true;
    return Promise.race([work.then(ended, ended), this.#missed]);
  }

  cancel(): void {
    this.#timer.cancel();
  }
}

/** Resolves to true when the work has ended, to false when the time is over first. Never rejects. */
export async function endsWithin(
  clock: Clock,
  work: Promise<unknown>,
  limit: number,
): Promise<boolean> {
  const deadline = new Deadline(clock, limit);
  const isMet = await deadline.meets(work);
  deadline.cancel();
  return isMet;
}

/** Runs jobs one after the other, in the order in which they were added. */
export class SerialQueue {
  #tail: Promise<void> = Promise.resolve();

  add(job: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(job);
    return this.#tail;
  }
}

/**
 * A loop that runs its round whenever it is woken, one round at a time; being woken during a round
 * leads to exactly one more.
 */
export class WakeableLoop {
  #woken = false;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(private readonly round: () => Promise<void>) {}

  wake(): void {
    this.#woken = true;
    if (!this.#running && !this.#stopped) this.#running = this.#run();
  }

  /** No further round begins; resolves when the present one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Everything that wakes the loop in the same turn belongs to the same round.
    await Promise.resolve();
    while (this.#woken && !this.#stopped) {
      this.#woken = false;
      await this.round();
    }
    this.#running = undefined;
  }
}
