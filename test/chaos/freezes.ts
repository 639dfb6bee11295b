import { now } from '../e2e/fixtures/member.protocol.js';
import { Cleanup } from '../kit/cleanup.js';
import type { Violation } from '../simulation/checker.js';
import { type Freeze, FreezeLane, type Manner } from './freeze-lane.js';
import { WEDGE } from './judge.js';

/**
 * The case for which there is a lease: an app is connected to a server that has lost ZooKeeper's leader.
 * The server goes on answering it, and its session is over meanwhile.
 */
export interface FreezesOptions {
  /** How many, shared out to all session timeouts and manners. */
  readonly freezes: number;
  readonly seed: number;
  readonly folder: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FreezesProgress) => void;
}

export interface FreezesProgress {
  readonly elapsed: number;
  readonly freezes: readonly Freeze[];
  readonly violations: readonly Violation[];
}

/** Each ends when a session is over and its lease is waited out: the longest get two lanes. */
const LANES = [2_000, 4_000, 10_000, 10_000];
const TIMEOUTS = [...new Set(LANES)];

/**
 * With `back` alone an app that reconnects keeps its session: the server's question whether there is
 * one reaches the leader and counts as a sign of life, only the answer does not come back.
 */
const MANNERS: readonly Manner[] = [
  { name: 'forth', direction: 'forth', refuses: false, moves: true },
  { name: 'back, refusing', direction: 'back', refuses: true, moves: true },
  { name: 'both', direction: 'both', refuses: false, moves: true },
  { name: 'back', direction: 'back', refuses: false, moves: false },
];

export const NOTHING_MOVED = 'the shards of a session that is over move';

/** What is to be tried: a session timeout and a manner. */
export type Trial = Pick<Freeze, 'timeout' | 'manner'>;

/** Each timeout as often as the others, and with it each manner. */
export function trials(count: number): Trial[] {
  return Array.from({ length: count }, (_, index) => ({
    timeout: TIMEOUTS[index % TIMEOUTS.length]!,
    manner: MANNERS[Math.floor(index / TIMEOUTS.length) % MANNERS.length]!,
  }));
}

export const rowOf = ({ timeout, manner }: Trial): string => `${timeout / 1_000} s, ${manner.name}`;

/** A row in which shards had to move and none did shows nothing, least of all that all is well. */
export function rowsWithoutGap(wanted: readonly Trial[], freezes: readonly Freeze[]): string[] {
  const moved = freezes.filter(({ gaps }) => gaps.some((gap) => gap !== undefined));
  const shown = new Set(moved.map(rowOf));
  const rows = new Set(wanted.filter(({ manner }) => manner.moves).map(rowOf));
  return [...rows].filter((row) => !shown.has(row));
}

export const gapsOf = (freezes: readonly Freeze[]): number[] =>
  freezes
    .flatMap(({ gaps }) => gaps)
    .filter((gap) => gap !== undefined)
    .toSorted((a, b) => a - b);

export async function runFreezes(options: FreezesOptions): Promise<FreezesProgress> {
  return new Freezes(options).run();
}

class Freezes {
  readonly #started = now();
  readonly #wanted: readonly Trial[];
  readonly #left: Trial[];
  readonly #freezes: Freeze[] = [];
  readonly #violations: Violation[] = [];
  readonly #over = new AbortController();

  constructor(private readonly options: FreezesOptions) {
    this.#wanted = trials(options.freezes);
    this.#left = [...this.#wanted];
    options.signal?.addEventListener('abort', () => this.#over.abort());
  }

  get progress(): FreezesProgress {
    return {
      elapsed: now() - this.#started,
      freezes: this.#freezes,
      violations: this.#violations,
    };
  }

  async run(): Promise<FreezesProgress> {
    const { onProgress } = this.options;
    const timer = setInterval(() => onProgress?.(this.progress), 1_000);
    const cleanup = new Cleanup();
    try {
      const lanes = await this.#open(cleanup);
      await Promise.all(lanes.map((lane) => this.#drive(lane)));
    } finally {
      clearInterval(timer);
      await cleanup.close();
    }
    // Whoever stopped before the end has shown what was wrong.
    if (!this.#over.signal.aborted) {
      for (const row of rowsWithoutGap(this.#wanted, this.#freezes)) {
        this.#report(NOTHING_MOVED, `${row}: nothing has moved`);
      }
    }
    return this.progress;
  }

  /** One after the other: servers and apps that start take the time of those that are there. */
  async #open(cleanup: Cleanup): Promise<FreezeLane[]> {
    const { seed, folder } = this.options;
    const { signal } = this.#over;
    const lanes: FreezeLane[] = [];
    for (const [index, timeout] of LANES.entries()) {
      const inUse = lanes.filter((lane) => lane.timeout === timeout).length;
      const isNeeded = this.#wanted.filter((trial) => trial.timeout === timeout).length > inUse;
      if (!isNeeded || signal.aborted) continue;
      const name = `${timeout}-${index}`;
      const options = { name, timeout, seed: seed + index, folder, signal };
      lanes.push(cleanup.add(await FreezeLane.open(options)));
    }
    return lanes;
  }

  /** Lanes of the same timeout take turns. */
  async #drive(lane: FreezeLane): Promise<void> {
    const { signal } = this.#over;
    try {
      for (;;) {
        const next = this.#left.findIndex(({ timeout }) => timeout === lane.timeout);
        if (next < 0 || signal.aborted) return;
        const [trial] = this.#left.splice(next, 1);
        const freeze = await lane.freeze(trial!.manner);
        if (freeze) this.#freezes.push(freeze);
        this.#violations.push(...lane.judge());
        if (this.#violations.length > 0) this.#over.abort();
      }
    } catch (error) {
      this.#report(WEDGE, `a session timeout of ${lane.timeout} ms: ${String(error)}`);
    }
  }

  /** Then the others need not go on. */
  #report(rule: string, text: string): void {
    this.#violations.push({ time: now(), rule, text });
    this.#over.abort();
  }
}
