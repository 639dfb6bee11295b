import type { Clock, Timer } from '../environment.js';

interface Parcel {
  readonly due: number;
  readonly deliver: () => void;
}

/**
 * One direction of a connection: what is sent arrives once, in order, after the latency, unless the
 * lane is frozen (it arrives after the thaw) or cleared (it never arrives).
 */
export class MemoryLane {
  #parcels: Parcel[] = [];
  #timer: Timer | undefined;
  #flushing = false;
  #frozen = false;
  #lastDue = 0;

  constructor(
    private readonly clock: Clock,
    private readonly latency: () => number,
  ) {}

  get frozen(): boolean {
    return this.#frozen;
  }

  send(deliver: () => void): void {
    const latency = this.latency();
    // A later parcel never overtakes an earlier one, however the latency varies.
    const due =
      latency > 0 ? Math.max(this.#lastDue, this.clock.monotonic() + latency) : this.#lastDue;
    this.#lastDue = due;
    this.#parcels.push({ due, deliver });
    this.#arm();
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    this.#arm();
  }

  clear(): void {
    this.#parcels = [];
  }

  #arm(): void {
    const head = this.#parcels[0];
    if (!head || this.#frozen || this.#timer || this.#flushing) return;
    if (head.due === 0) {
      // No latency at all: a microtask keeps the memory registry as quick as a local call.
      this.#flushing = true;
      queueMicrotask(() => {
        this.#flushing = false;
        this.#deliver(({ due }) => due === 0);
      });
      return;
    }
    this.#timer = this.clock.setTimer(
      () => {
        this.#timer = undefined;
        const now = this.clock.monotonic();
        this.#deliver(({ due }) => due <= now);
      },
      Math.max(0, head.due - this.clock.monotonic()),
    );
  }

  #deliver(isDue: (parcel: Parcel) => boolean): void {
    let count = 0;
    const parcels = this.#parcels;
    // `clear` replaces the array, which ends this loop: what was cleared is not delivered.
    while (count < parcels.length && !this.#frozen && parcels === this.#parcels) {
      const parcel = parcels[count]!;
      if (!isDue(parcel)) break;
      count += 1;
      parcel.deliver();
    }
    if (parcels === this.#parcels) parcels.splice(0, count);
    this.#arm();
  }
}
