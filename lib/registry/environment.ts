import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';

/** A timer that has been set and can be called off. */
export interface Timer {
  cancel(): void;
}

/**
 * All the time that the library knows. Whoever replaces it (a simulation, a test) owns every
 * timer and every reading, so nothing below `lib/` may touch `Date.now` or `setTimeout` itself.
 */
export interface Clock {
  /** Milliseconds that never step; only differences mean anything. */
  monotonic(): number;
  /** Milliseconds since 1970. It may step, and unlike `monotonic` it counts a suspended machine. */
  wall(): number;
  setTimer(callback: () => void, delay: number): Timer;
}

/** All the randomness that the library uses. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  fraction(): number;
  /** A string unique in space and time. */
  uuid(): string;
  /** `digits` random hexadecimal digits. */
  hex(digits: number): string;
}

/** Where components tell what happens. Shaped so that a Nest `Logger` fits without an adapter. */
export interface Log {
  debug(message: string): void;
  log(message: string): void;
  warn(message: string): void;
  error(message: string, stack?: string): void;
}

/** What a component needs from the world besides the registry. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  setTimer: (callback, delay) => {
    // Node turns a delay beyond 2^31 - 1 ms into 1 ms; waiting 24 days instead is the honest mistake.
    const timer = setTimeout(callback, Math.min(delay, 2 ** 31 - 1));
    return { cancel: () => clearTimeout(timer) };
  },
};

export const systemRandom: Random = {
  fraction: () => Math.random(),
  uuid: () => randomUUID(),
  hex: (digits) =>
    randomBytes(Math.ceil(digits / 2))
      .toString('hex')
      .slice(0, digits),
};

export const silentLog: Log = {
  debug: () => {},
  log: () => {},
  warn: () => {},
  error: () => {},
};

/** The real clock and real randomness, and a log that says nothing unless one is given. */
export function systemEnvironment(log: Log = silentLog): Environment {
  return { clock: systemClock, random: systemRandom, log };
}
