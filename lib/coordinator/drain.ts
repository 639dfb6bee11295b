import type { Holding } from './holding.js';

export interface DrainSteps {
  /** The worker has ended: tell the application. Undefined if nobody listens. */
  readonly release: (holding: Holding) => Promise<void> | undefined;
  /** The shard is free. */
  readonly ended: (holding: Holding) => void;
}

/**
 * Shards that are let go together, each at its own pace: its worker ends, its release is told, it is
 * free. Counted instead of raced against a timer one by one, for there may be tens of thousands.
 */
export class Drain {
  /** Resolves when all are free. */
  readonly done: Promise<void>;
  readonly #working = new Set<Holding>();
  readonly #releasing = new Set<Holding>();
  #finish: () => void = () => {};

  constructor(
    holdings: readonly Holding[],
    private readonly steps: DrainSteps,
  ) {
    this.done = new Promise((resolve) => (this.#finish = resolve));
    for (const holding of holdings) if (holding.worker) this.#working.add(holding);
    for (const holding of holdings) {
      const { worker } = holding;
      // What rejects has ended, too.
      if (worker) void worker.then(...both(() => this.#workerEnded(holding)));
      else this.#release(holding);
    }
    this.#finishIfDone();
  }

  /** Those whose worker has not ended. */
  get working(): ReadonlySet<Holding> {
    return this.#working;
  }

  /** Those whose release is being told. */
  get releasing(): ReadonlySet<Holding> {
    return this.#releasing;
  }

  /** Workers are not waited for any longer; their shards are released all the same. */
  giveUpWorkers(): void {
    for (const holding of [...this.#working]) this.#workerEnded(holding);
  }

  /** Nothing is waited for any longer. */
  giveUp(): void {
    for (const holding of [...this.#releasing]) this.#releaseEnded(holding);
  }

  #workerEnded(holding: Holding): void {
    // A worker that ends after it was given up has been released already.
    if (this.#working.delete(holding)) this.#release(holding);
    this.#finishIfDone();
  }

  #release(holding: Holding): void {
    const released = this.steps.release(holding);
    if (!released) return this.#free(holding);
    this.#releasing.add(holding);
    void released.then(...both(() => this.#releaseEnded(holding)));
  }

  #releaseEnded(holding: Holding): void {
    if (this.#releasing.delete(holding)) this.#free(holding);
    this.#finishIfDone();
  }

  #free(holding: Holding): void {
    holding.end();
    this.steps.ended(holding);
  }

  #finishIfDone(): void {
    if (this.#working.size === 0 && this.#releasing.size === 0) this.#finish();
  }
}

/** For `then`: the same whether it was fulfilled or rejected. */
function both(act: () => void): [() => void, () => void] {
  return [act, act];
}
