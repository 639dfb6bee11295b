import type { Fault } from './faults.js';
import { simulate, type SimulationResult } from './simulation.js';

/**
 * Leaves out faults as long as the seed still fails: first halves, then ever smaller parts. What is left
 * is a schedule of which every part is needed.
 */
export async function shrink(
  seed: number,
  onProgress: (faults: number) => void,
): Promise<SimulationResult> {
  let best = await simulate(seed);
  const rule = best.violations[0]?.rule;
  if (rule === undefined) return best;
  for (let size = Math.ceil(best.faults.length / 2); size >= 1;) {
    const smaller = await withoutSome(seed, best.faults, size, rule);
    if (smaller) {
      best = smaller;
      onProgress(best.faults.length);
      size = Math.min(size, Math.max(1, best.faults.length));
    } else if (size === 1) break;
    else size = Math.ceil(size / 2);
  }
  return best;
}

async function withoutSome(
  seed: number,
  faults: readonly Fault[],
  size: number,
  rule: string,
): Promise<SimulationResult | undefined> {
  for (let start = 0; start < faults.length; start += size) {
    const result = await simulate(seed, faults.toSpliced(start, size));
    // Another failure is another story.
    if (result.violations[0]?.rule === rule) return result;
  }
  return undefined;
}
