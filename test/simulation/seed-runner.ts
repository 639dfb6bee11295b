import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { checkoutRoot, runnable } from '../kit/checkout.js';
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
    let worker = new Worker(script);
    while (next < from + count) {
      const verdict = await judge(worker, next++, PATIENCE);
      done += 1;
      if (verdict.violations.length > 0) failed.push(verdict);
      onVerdict?.(verdict, done);
      if (verdict.faults !== undefined) continue;
      // Whoever threw has ended, and whoever hangs has to.
      await worker.terminate();
      worker = new Worker(script);
    }
    await worker.terminate();
  };
  const workers = Math.min(availableParallelism(), count);
  await Promise.all(Array.from({ length: workers }, work));
  return failed.toSorted((a, b) => a.seed - b.seed);
}

/** A seed that throws or never ends has a verdict, too. */
export async function judge(worker: Worker, seed: number, patience: number): Promise<SeedVerdict> {
  let timer: NodeJS.Timeout | undefined;
  const verdict = await new Promise<SeedVerdict>((resolve) => {
    const fail = (text: string): void =>
      resolve({ seed, violations: [{ time: 0, rule: 'each seed comes to its end', text }] });
    worker.once('message', resolve);
    worker.once('error', (error) => fail(String(error)));
    timer = setTimeout(() => fail(`not within ${patience / 1_000} s`), patience);
    worker.postMessage(seed);
  });
  clearTimeout(timer);
  worker.removeAllListeners('message');
  worker.removeAllListeners('error');
  return verdict;
}
