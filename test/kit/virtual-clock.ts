import type { Clock, Timer } from '../../lib/registry/environment.js';

/** Taken before any test can fake it: the way to let every microtask run, without the passing of time. */
const nextTurn = setImmediate;

export interface VirtualClockOptions {
  /** Milliseconds that this clock counts in one true millisecond. @default 1 */
  readonly rate?: number;
  /** What `wall()` shows when the clock is made. @default 2024-01-01 */
  readonly wall?: number;
}

/**
 * Time that passes only when told to, for any number of clocks. Timers run in the order of their times,
 * those of the same time in the order in which they were set, and between two of them all promises that
 * can go on do so: the same calls give the same history, whatever the machine is busy with.
 */
export class VirtualTime {
  readonly #timers = new TimerHeap();
  #now = 0;
  #advancing = false;

  /** True milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** A clock on this time; as many as there are machines, each with its own rate. */
  clock(options: VirtualClockOptions = {}): VirtualClock {
    return new VirtualClock(this, this.#timers, options);
  }

  /** Lets so many true milliseconds pass, with every timer due in them. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.#run(() => false, end);
    this.#now = end;
  }

  /**
   * Lets time pass, timer by timer, until the condition holds. Fails if it does not within `limit` true
   * milliseconds, or when nothing is left that could change it.
   */
  async runUntil(condition: () => boolean, limit = 3_600_000): Promise<void> {
    const end = this.#now + limit;
    if (await this.#run(condition, end)) return;
    const reason = this.#timers.size === 0 ? 'no timer is left' : `not within ${limit} virtual ms`;
    throw new Error(
      `the condition does not hold at ${this.#now} ms: ${reason}: ${condition.toString()}`,
    );
  }

  /** Lets everything happen that can without time passing, timers that are due included. */
  async settle(): Promise<void> {
    await this.#run(() => false, this.#now);
  }

  async #run(condition: () => boolean, end: number): Promise<boolean> {
    if (this.#advancing) throw new Error('virtual time is being advanced already');
    this.#advancing = true;
    try {
      for (;;) {
        await drained();
        if (condition()) return true;
        const timer = this.#timers.popUntil(end);
        if (!timer) return false;
        this.#now = Math.max(this.#now, timer.due);
        timer.fire();
      }
    } finally {
      this.#advancing = false;
    }
  }
}

/** One machine's clock on virtual time. */
export class VirtualClock implements Clock {
  readonly #rate: number;
  readonly #started: number;
  #wall: number;
  /** A timer's own time has come when it fires, however the rate rounds. */
  #reached = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly timers: TimerHeap,
    { rate = 1, wall = Date.UTC(2024, 0) }: VirtualClockOptions,
  ) {
    if (!(rate > 0 && rate < Infinity)) throw new Error(`a clock cannot run at the rate ${rate}`);
    this.#rate = rate;
    this.#started = time.now;
    this.#wall = wall;
  }

  monotonic(): number {
    return Math.max(this.#reached, (this.time.now - this.#started) * this.#rate);
  }

  wall(): number {
    return this.#wall + this.monotonic();
  }

  /** Sets the wall clock forward, or back, as an administrator or a time server would. */
  stepWall(milliseconds: number): void {
    this.#wall += milliseconds;
  }

  setTimer(callback: () => void, delay: number): Timer {
    const own = this.monotonic() + Math.max(0, delay);
    const due = Math.max(this.time.now, this.#started + own / this.#rate);
    return this.timers.push(due, () => {
      this.#reached = Math.max(this.#reached, own);
      callback();
    });
  }
}

class VirtualTimer implements Timer {
  cancelled = false;

  constructor(
    private readonly heap: TimerHeap,
    readonly due: number,
    readonly order: number,
    readonly fire: () => void,
  ) {}

  isBefore(other: VirtualTimer): boolean {
    return this.due < other.due || (this.due === other.due && this.order < other.order);
  }

  cancel(): void {
    if (this.cancelled) return;
    this.cancelled = true;
    this.heap.onCancel();
  }
}

/**
 * A binary heap. Cancelled timers stay in it until they come up or are the majority: most timers are
 * deadlines that never pass, so cancelling has to cost nothing.
 */
class TimerHeap {
  #heap: VirtualTimer[] = [];
  #cancelled = 0;
  #order = 0;

  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  push(due: number, fire: () => void): Timer {
    const timer = new VirtualTimer(this, due, this.#order++, fire);
    this.#heap.push(timer);
    this.#rise(this.#heap.length - 1);
    return timer;
  }

  /** Takes out the first timer, if it is due by `end`. */
  popUntil(end: number): VirtualTimer | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (!first || (!first.cancelled && first.due > end)) return undefined;
      const last = this.#heap.pop()!;
      if (first !== last) {
        this.#heap[0] = last;
        this.#sink(0);
      }
      if (!first.cancelled) {
        // From here on a call to `cancel` has nothing to take out.
        first.cancelled = true;
        return first;
      }
      this.#cancelled -= 1;
    }
  }

  onCancel(): void {
    this.#cancelled += 1;
    if (this.#cancelled < 64 || this.#cancelled * 2 < this.#heap.length) return;
    // A sorted array is a heap.
    this.#heap = this.#heap
      .filter(({ cancelled }) => !cancelled)
      .toSorted((a, b) => (a.isBefore(b) ? -1 : 1));
    this.#cancelled = 0;
  }

  #rise(index: number): void {
    const heap = this.#heap;
    const timer = heap[index]!;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!timer.isBefore(heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = timer;
  }

  #sink(index: number): void {
    const heap = this.#heap;
    const timer = heap[index]!;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.isBefore(heap[child]!)) child += 1;
      if (!heap[child]!.isBefore(timer)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = timer;
  }
}

/** Resolves when every microtask that was queued, and all that these queue, have run. */
function drained(): Promise<void> {
  return new Promise((resolve) => void nextTurn(resolve));
}
