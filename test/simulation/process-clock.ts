import type { Clock, Timer } from '../../lib/registry/environment.js';
import type { VirtualClock } from '../kit/virtual-clock.js';

/** What the rates of clocks may lose in rounding. */
const ROUNDING = 1e-6;

/**
 * The clock of one process. While the process is paused time goes on, but nothing runs until it resumes;
 * while its machine sleeps the monotonic clock stands still as well, and only the wall clock goes on.
 */
export class ProcessClock implements Clock {
  #state: 'running' | 'paused' | 'dead' = 'running';
  #due: (() => void)[] = [];
  #asleepSince: number | undefined;
  #slept = 0;

  constructor(private readonly machine: VirtualClock) {}

  monotonic(): number {
    return (this.#asleepSince ?? this.machine.monotonic()) - this.#slept;
  }

  wall(): number {
    return this.machine.wall();
  }

  setTimer(callback: () => void, delay: number): Timer {
    const due = this.monotonic() + Math.max(0, delay);
    let isCancelled = false;
    const look = (): void => {
      if (isCancelled) return;
      const left = due - this.monotonic();
      if (left > ROUNDING) timer = this.machine.setTimer(fire, left);
      else callback();
    };
    const fire = (): void => this.#run(look);
    let timer = this.machine.setTimer(fire, delay);
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  pause({ isAsleep }: { readonly isAsleep: boolean }): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    if (isAsleep) this.#asleepSince = this.machine.monotonic();
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    if (this.#asleepSince !== undefined) {
      this.#slept += this.machine.monotonic() - this.#asleepSince;
      this.#asleepSince = undefined;
    }
    const due = this.#due;
    this.#due = [];
    // Each in a turn of its own, as an event loop would.
    for (const callback of due) this.machine.setTimer(() => this.#run(callback), 0);
  }

  kill(): void {
    this.#state = 'dead';
    this.#due = [];
  }

  #run(callback: () => void): void {
    if (this.#state === 'running') callback();
    else if (this.#state === 'paused') this.#due.push(callback);
  }
}
