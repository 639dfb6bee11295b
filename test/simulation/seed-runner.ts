import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot, runnable } from '../kit/checkout.js';
import { SeedThread } from './seed-thread.js';
import type { SeedVerdict } from './seed-worker.js';

/** Milliseconds that one seed may take, also on a busy machine; a usual one takes a few dozen. */
const PATIENCE = 180_000;

export interface SeedRun {
  readonly from: number;
  readonly count: number;
  readonly onVerdict?: (verdict: SeedVerdict, done: number) => void;
}

/** Simulates many seeds on all cores; resolves to the verdicts that found something, by seed. */
export async function runSeeds({ from, count, onVerdict }: SeedRun): Promise<SeedVerdict[]> {
  const script = runnable(join(checkoutRoot, 'test/simulation/seed-worker.ts'));
  const failed: SeedVerdict[] = [];
  let next = from;
  let done = 0;
  const work = async (): Promise<void> => {
    let thread = new SeedThread(script);
    while (next < from + count) {
      const verdict = await judge(thread, next++, PATIENCE);
      done += 1;
      if (verdict.violations.length > 0) failed.push(verdict);
      onVerdict?.(verdict, done);
      if (verdict.faults !== undefined) continue;
      // Whoever threw has ended, and whoever hangs has to.
      await thread.end();
      thread = new SeedThread(script);
    }
    await thread.end();
  };
  const workers = Math.min(availableParallelism(), count);
  await Promise.all(Array.from({ length: workers }, work));
  return failed.toSorted((a, b) => a.seed - b.seed);
}

/** A seed that throws or never ends has a verdict, too. */
export async function judge(
  thread: SeedThread,
  seed: number,
  patience: number,
): Promise<SeedVerdict> {
  const fail = (text: string): SeedVerdict => ({
    seed,
    violations: [{ time: 0, rule: 'each seed comes to its end', text }],
  });
  const outcome = await thread.simulate(seed, patience);
  switch (outcome.kind) {
    case 'verdict':
      return outcome.verdict;
    case 'threw':
      return fail(String(outcome.error));
    case 'late':
      return fail(`not within ${patience / 1_000} s`);
  }
}
