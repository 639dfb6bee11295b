import { now } from '../e2e/fixtures/member.protocol.js';
import { passes } from '../e2e/passes.js';
import { merge } from '../e2e/recording.js';
import { SeededRandom } from '../kit/seeded-random.js';
import type { Violation } from '../simulation/checker.js';
import type { Event, History } from '../simulation/history.js';
import { FAULTS, type Trouble } from './faults.js';
import {
  type FaultRecord,
  gapsWithin,
  judge,
  longer,
  type LongestGap,
  longestGaps,
  WriteLog,
} from './judge.js';
import { Scene } from './scene.js';
import { type Appointment, rounds } from './schedule.js';

export interface ChaosOptions {
  /** Milliseconds. */
  readonly duration: number;
  readonly seed: number;
  /** Where the logs go. */
  readonly folder: string;
  /** Milliseconds within which the group has settled after the last fault of a round. @default 30000 */
  readonly bound?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ChaosProgress) => void;
}

export interface ChaosProgress {
  readonly elapsed: number;
  readonly faults: readonly FaultRecord[];
  readonly violations: readonly Violation[];
  readonly gaps: ReadonlyMap<string, LongestGap>;
  readonly longestGap: number;
  readonly longestSettling: number;
  readonly rounds: number;
  readonly accepted: number;
  readonly refused: number;
  readonly lapses: number;
  readonly stranded: number;
  readonly bound: number;
  /** Kinds of fault that could not be made on this machine. */
  readonly missing: readonly string[];
}

/** Twice what it takes from a death to the next owner with T = 4 s, and what a busy machine takes. */
export const SETTLING_BOUND = 30_000;
/** Faults begin within this time; then all of them end, and the group has to settle. */
const ROUND = 14_000;
/** What the end of a round takes, mostly. */
const CLOSING = 10_000;

/** Faults in rounds on a group of real processes, until the time is over or something is wrong. */
export async function runChaos(options: ChaosOptions): Promise<ChaosProgress> {
  const random = new SeededRandom(options.seed);
  const scene = await Scene.open(options.folder, random);
  try {
    return await new Chaos(options, random, scene).run();
  } finally {
    await scene.keepLogs();
    await scene.close();
  }
}

class Chaos {
  readonly #started = now();
  readonly #faults: FaultRecord[] = [];
  readonly #writes = new WriteLog();
  readonly #stuck: Event[] = [];
  readonly #gaps = new Map<string, LongestGap>();
  readonly #bound: number;
  readonly #schedule: ReturnType<typeof rounds>;
  #violations: readonly Violation[] = [];
  #longestGap = 0;
  #longestSettling = 0;
  #rounds = 0;

  constructor(
    private readonly options: ChaosOptions,
    random: SeededRandom,
    private readonly scene: Scene,
  ) {
    this.#bound = options.bound ?? SETTLING_BOUND;
    this.#schedule = rounds(random, FAULTS);
  }

  async run(): Promise<ChaosProgress> {
    const { duration, signal, onProgress } = this.options;
    const timer = setInterval(() => onProgress?.(this.progress), 1_000);
    try {
      for (;;) {
        const left = this.#started + duration - now();
        if (left <= 0 || signal?.aborted || this.#violations.length > 0) return this.progress;
        // The last one is shorter, so that the run ends in time.
        if (left < CLOSING / 2) await passes(left, signal);
        else await this.#round(Math.min(ROUND, Math.max(1_000, left - CLOSING)));
      }
    } finally {
      clearInterval(timer);
    }
  }

  get progress(): ChaosProgress {
    const { crowd, stranded, disk } = this.scene;
    return {
      elapsed: now() - this.#started,
      faults: this.#faults,
      violations: this.#violations,
      gaps: this.#gaps,
      longestGap: this.#longestGap,
      longestSettling: this.#longestSettling,
      rounds: this.#rounds,
      accepted: this.#writes.accepted,
      refused: this.#writes.refused,
      lapses: crowd.lapses,
      stranded,
      bound: this.#bound,
      missing: disk ? [] : ['slow disk of a server', 'full disk of a server'],
    };
  }

  async #round(length: number): Promise<void> {
    const { signal } = this.options;
    const begun = now();
    const before = this.scene.total;
    const first = this.#faults.length;
    const running: Promise<void>[] = [];
    for (const appointment of this.#schedule.next().value(length)) {
      await passes(begun + appointment.at - now(), signal);
      if (signal?.aborted) break;
      running.push(this.#happen(appointment));
    }
    await Promise.all(running);
    await this.#settle();
    this.#rounds += 1;
    const totals = [before, this.scene.total];
    this.#conclude(begun, first, Math.min(...totals));
  }

  /** One fault from its begin to its end. */
  async #happen({ names, random }: Appointment): Promise<void> {
    const drawn = this.#draw(names, random);
    if (!drawn) return;
    const { name, trouble } = drawn;
    const { victims, slots = [], takesServer = false, takesTotal = false } = trouble;
    const { scene } = this;
    const take = (isTaken: boolean): void => {
      for (const slot of slots) slot.isTaken = isTaken;
      if (takesServer) scene.isServerTaken = isTaken;
      if (takesTotal) scene.isTotalTaken = isTaken;
    };
    const record: FaultRecord = { name, victims, begun: now() };
    this.#faults.push(record);
    take(true);
    try {
      await trouble.begin();
      await passes(trouble.lasts, this.options.signal);
      await trouble.end();
    } catch (error) {
      this.#report(`the fault "${name}" of ${victims} failed: ${String(error)}`);
    } finally {
      record.ended = now();
      take(false);
    }
  }

  #draw(
    names: readonly string[],
    random: SeededRandom,
  ): { name: string; trouble: Trouble } | undefined {
    for (const name of names) {
      const fault = FAULTS.find((one) => one.name === name);
      const trouble = fault?.draw(this.scene, random);
      if (trouble) return { name, trouble };
    }
    return undefined;
  }

  async #settle(): Promise<void> {
    const since = now();
    if (this.options.signal?.aborted) return;
    try {
      await this.scene.crowd.settled(this.scene.total, this.#bound);
    } catch (error) {
      this.#report(String(error));
    }
    this.#longestSettling = Math.max(this.#longestSettling, now() - since);
  }

  /** Judges everything so far, and takes the measure of this round. */
  #conclude(from: number, first: number, items: number): void {
    const { crowd, store } = this.scene;
    this.#writes.add(store.readNew());
    const history = this.#history();
    this.#violations = judge(history, crowd.orderly);
    const gaps = gapsWithin(crowd.holdings, from, now(), items);
    for (const [name, gap] of longestGaps(gaps, this.#faults.slice(first))) {
      this.#gaps.set(name, longer(this.#gaps.get(name), gap));
      this.#longestGap = Math.max(this.#longestGap, gap.alone, gap.amongOthers);
    }
    crowd.forgetLines();
  }

  #history(): History {
    return merge([this.scene.crowd.events(), this.#writes.events, this.#stuck]);
  }

  #report(text: string): void {
    this.#stuck.push({ kind: 'stuck', time: now(), text });
  }
}
