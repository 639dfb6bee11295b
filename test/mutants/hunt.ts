import { isMistake, MISTAKE } from '../simulation/checker.js';
import { SeedThread } from '../simulation/seed-thread.js';
import { BotchedError, intact } from './mutant.js';

export interface HuntOptions {
  /** Of the break. */
  readonly name: string;
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
  const { name, script, from, maxSeeds, patience, onSeed } = options;
  let thread = startThread(script);
  try {
    for (let seed = from; seed < from + maxSeeds; seed++) {
      let outcome = await look(thread, name, seed, patience);
      if (outcome === 'late') {
        thread = startThread(script);
        outcome = await hangs(thread, name, seed, patience);
      }
      const seeds = seed - from + 1;
      onSeed?.(seeds);
      if (outcome) return { ...outcome, seed, seeds };
    }
    return undefined;
  } finally {
    await thread.end();
  }
}

type Finding = Pick<Catch, 'by' | 'text'>;
type Outcome = Finding | 'late' | undefined;

function startThread(script: string): SeedThread {
  return new SeedThread(script, { resourceLimits: { maxOldGenerationSizeMb: 512 } });
}

/** What was found in this seed, if anything; 'late' ends the thread. */
async function look(
  thread: SeedThread,
  name: string,
  seed: number,
  patience: number,
): Promise<Outcome> {
  const outcome = await thread.simulate(seed, patience);
  switch (outcome.kind) {
    case 'late':
      await thread.end();
      return 'late';
    case 'threw': {
      const text = String(outcome.error);
      if (isMistake(text)) throw new BotchedError(name, text);
      return { by: 'an exception', text };
    }
    case 'verdict': {
      const { violations } = outcome.verdict;
      const mistake = violations.find(({ rule }) => rule === MISTAKE);
      if (mistake) throw new BotchedError(name, mistake.text);
      const [first] = violations;
      return first && { by: first.rule, text: first.text };
    }
  }
}

/** A busy machine makes everything late: it hangs only if it does with more time, and the intact one does not. */
async function hangs(
  thread: SeedThread,
  name: string,
  seed: number,
  patience: number,
): Promise<Finding | undefined> {
  const again = await look(thread, name, seed, 3 * patience);
  if (again !== 'late') return again;
  const original = startThread(intact);
  const isLate = (await original.simulate(seed, 3 * patience)).kind === 'late';
  await original.end();
  const text = `seed ${seed} does not end within ${(3 * patience) / 1_000} s`;
  if (isLate)
    throw new Error(`${text}, nor does it with the intact sources: try a quieter machine`);
  return { by: 'hung', text };
}
