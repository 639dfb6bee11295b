import { setMaxListeners } from 'node:events';
import { Observable } from 'rxjs';
import type { Clock } from '../registry/environment.js';

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

/** Resolves to true when the work has ended, to false when the time is over first. Never rejects. */
export function endsWithin(clock: Clock, work: Promise<unknown>, limit: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(() => resolve(false), Math.max(limit, 0));
    const end = (): void => {
      timer.cancel();
      resolve(true);
    };
    work.then(end, end);
  });
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
