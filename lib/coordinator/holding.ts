import type { ReleaseReason, Shard } from '../interfaces/sharding-values.interface.js';
import type { Lease } from './lease.js';

/** One holding of one item, from its grant to its acknowledged release. */
export class Holding implements Shard {
  /** Made when somebody asks for the signal: with thousands of shards, making all of them costs. */
  #controller: AbortController | undefined;
  #releaseReason: ReleaseReason | undefined;
  #isOver = false;
  /** Ends when all that works on the shard has ended; never rejects. Undefined if nothing does. */
  worker: Promise<void> | undefined;

  constructor(
    readonly item: number,
    /** The epoch that granted it: the token as a plain number. */
    readonly grantedAt: number,
    readonly total: number,
    private readonly lease: Lease,
    readonly parameter: unknown,
  ) {}

  get token(): bigint {
    return BigInt(this.grantedAt);
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#releaseReason !== undefined) this.#controller.abort(this.#releaseReason);
    }
    return this.#controller.signal;
  }

  /** A worker may still flush while it is being drained, but not beyond the lease. */
  get valid(): boolean {
    return !this.#isOver && this.lease.isValid;
  }

  /** Why it is let go; asked only once it is. */
  get releaseReason(): ReleaseReason {
    return this.#releaseReason ?? 'rebalance';
  }

  abort(reason: ReleaseReason): void {
    this.#releaseReason = reason;
    this.#controller?.abort(reason);
  }

  end(): void {
    this.#isOver = true;
  }
}
