import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { SeedVerdict } from './seed-worker.js';

/** What became of a seed. */
export type SeedOutcome =
  | { readonly kind: 'verdict'; readonly verdict: SeedVerdict }
  /** Nobody caught this: the thread has ended. */
  | { readonly kind: 'threw'; readonly error: unknown }
  /** It may never end: the thread is of no more use. */
  | { readonly kind: 'late' };

/** One thread that simulates a copy of the library, seed by seed. */
export class SeedThread {
  readonly #worker: Worker;
  #settle: (outcome: SeedOutcome) => void = () => {};

  constructor(script: string, options: WorkerOptions = {}) {
    this.#worker = new Worker(script, options);
    this.#worker.on('message', (verdict: SeedVerdict) =>
      this.#settle({ kind: 'verdict', verdict }),
    );
    this.#worker.on('error', (error) => this.#settle({ kind: 'threw', error }));
  }

  async simulate(seed: number, patience: number): Promise<SeedOutcome> {
    let timer: NodeJS.Timeout | undefined;
    const outcome = await new Promise<SeedOutcome>((resolve) => {
      this.#settle = resolve;
      timer = setTimeout(() => resolve({ kind: 'late' }), patience);
      this.#worker.postMessage(seed);
    });
    clearTimeout(timer);
    return outcome;
  }

  /** Ends endless loops, too. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
