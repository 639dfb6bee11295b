import type { Clock, Timer } from '../../lib/registry/environment.js';
import type { VirtualClock } from '../kit/virtual-clock.js';

/** The clock of one process: it goes on while the process is paused, but nothing runs until it resumes. */
export class ProcessClock implements Clock {
  #state: 'running' | 'paused' | 'dead' = 'running';
  #due: (() => void)[] = [];

  constructor(private readonly machine: VirtualClock) {}

  monotonic(): number {
    return this.machine.monotonic();
  }

  wall(): number {
    return this.machine.wall();
  }

  setTimer(callback: () => void, delay: number): Timer {
    let isCancelled = false;
    const timer = this.machine.setTimer(() => {
      if (this.#state === 'running') return callback();
      if (this.#state === 'paused') {
        this.#due.push(() => {
          if (!isCancelled) callback();
        });
      }
    }, delay);
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
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
