import type { Clock, Timer } from '../registry/environment.js';

/** A moment on both clocks of this machine. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.wall() };
}

/**
 * The holder's side of a lease: the right to work until D after the sending of the last renewal that
 * the store committed. The deadline is looked at on every question, so a process that wakes from a
 * pause answers "no" before its event loop has run anything. Once run out, a lease is never revived
 * by a late answer: its owner has to give up what it held, and `restart`.
 */
export class Lease {
  #monotonic = 0;
  #wall = 0;
  #state: 'idle' | 'running' | 'lapsed' = 'idle';
  /** The millisecond of the wall clock in which both clocks last said that it is valid. */
  #validAt = NaN;

  constructor(
    private readonly clock: Clock,
    readonly duration: number,
    /** Whether time counts at all, see `Session.timed`. */
    private readonly isTimed: () => boolean,
  ) {}

  get isValid(): boolean {
    if (this.#state !== 'running') return false;
    const wall = this.clock.wall();
    // One clock instead of two, for this is asked in every loop of the application. Whatever pauses,
    // suspends or steps leaves the wall clock in another millisecond, and then both are read.
    if (wall === this.#validAt) return true;
    if (this.isTimed() && this.#elapsedAt(wall) >= this.duration) return false;
    this.#validAt = wall;
    return true;
  }

  /** It was running and its time is over. */
  get hasLapsed(): boolean {
    return this.#state === 'lapsed' || (this.#state === 'running' && !this.isValid);
  }

  /** The larger of both clocks' differences, so that a suspended machine counts. */
  get elapsed(): number {
    return this.#elapsedAt(this.clock.wall());
  }

  /** A renewal sent at this moment was committed. False if it comes too late to count. */
  renew(sent: Instant): boolean {
    if (this.hasLapsed) {
      this.#state = 'lapsed';
      return false;
    }
    const { monotonic, wall } = instantOf(this.clock);
    const age = Math.max(monotonic - sent.monotonic, wall - sent.wall);
    if (age >= this.duration && this.isTimed()) return false;
    this.#monotonic = sent.monotonic;
    this.#wall = sent.wall;
    this.#state = 'running';
    return true;
  }

  /** Time begins to count now; until now it did not. */
  startTiming(): void {
    this.#monotonic = this.clock.monotonic();
    this.#wall = this.clock.wall();
    this.#validAt = NaN;
  }

  /** Everything held under it has been given up: the next renewal counts again. */
  restart(): void {
    this.#state = 'idle';
    this.#validAt = NaN;
  }

  #elapsedAt(wall: number): number {
    return Math.max(this.clock.monotonic() - this.#monotonic, wall - this.#wall);
  }
}

/**
 * The waiter's side: a member that was seen gone may hold on to its lease for D from its last
 * committed renewal, which was before it went. Counted on the monotonic clock alone, since a wall
 * clock that steps ahead would end the wait too early.
 */
export class AbsenceWait {
  readonly #timer: Timer;

  constructor(clock: Clock, duration: number, margin: number, onOver: () => void) {
    this.#timer = clock.setTimer(onOver, duration + margin);
  }

  cancel(): void {
    this.#timer.cancel();
  }
}
