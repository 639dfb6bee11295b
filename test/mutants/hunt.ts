import { Worker } from 'node:worker_threads';
import type { SeedVerdict } from '../simulation/seed-worker.js';
import { intact } from './mutant.js';

export interface HuntOptions {
  /** The compiled worker of the copy that is hunted. */
  readonly script: string;
  readonly from: number;
  readonly maxSeeds: number;
  /** Milliseconds that one seed may take; a usual one takes a few dozen. */
  readonly patience: number;
  readonly onSeed?: (seeds: number) => void;
}

/** What gave a break away. */
export interface Catch {
  readonly by: string;
  readonly text: string;
  readonly seed: number;
  readonly seeds: number;
}

/** Simulates seed after seed until something is found; undefined if nothing is. */
export async function hunt(options: HuntOptions): Promise<Catch | undefined> {
  const { script, from, maxSeeds, patience, onSeed } = options;
  let simulator = new Simulator(script);
  try {
    for (let seed = from; seed < from + maxSeeds; seed++) {
      let outcome = await simulator.simulate(seed, patience);
      if (outcome === 'late') {
        simulator = new Simulator(script);
        outcome = await hangs(simulator, seed, patience);
      }
      const seeds = seed - from + 1;
      onSeed?.(seeds);
      if (outcome) return { ...outcome, seed, seeds };
    }
    return undefined;
  } finally {
    await simulator.end();
  }
}

type Finding = Pick<Catch, 'by' | 'text'>;
type Outcome = Finding | 'late' | undefined;

/** A busy machine makes everything late: it hangs only if it does with more time, and the intact one does not. */
async function hangs(
  simulator: Simulator,
  seed: number,
  patience: number,
): Promise<Finding | undefined> {
  const again = await simulator.simulate(seed, 3 * patience);
  if (again !== 'late') return again;
  const original = new Simulator(intact);
  const isLate = (await original.simulate(seed, 3 * patience)) === 'late';
  await original.end();
  const text = `seed ${seed} does not end within ${(3 * patience) / 1_000} s`;
  if (isLate)
    throw new Error(`${text}, nor does it with the intact sources: try a quieter machine`);
  return { by: 'hung', text };
}

/** One thread that simulates a copy of the library, seed by seed; endless loops end with it. */
class Simulator {
  readonly #worker: Worker;
  #settle: (outcome: Outcome) => void = () => {};

  constructor(script: string) {
    this.#worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: 512 } });
    this.#worker.on('message', ({ violations: [first] }: SeedVerdict) => {
      this.#settle(first && { by: first.rule, text: first.text });
    });
    // What nobody catches, a simulation that throws included.
    this.#worker.on('error', (error) => this.#settle({ by: 'an exception', text: String(error) }));
  }

  /** What was found in this seed, if anything; 'late' ends the thread. */
  async simulate(seed: number, patience: number): Promise<Outcome> {
    let timer: NodeJS.Timeout | undefined;
    const outcome = await new Promise<Outcome>((resolve) => {
      this.#settle = resolve;
      timer = setTimeout(() => resolve('late'), patience);
      this.#worker.postMessage(seed);
    });
    clearTimeout(timer);
    if (outcome === 'late') await this.end();
    return outcome;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
