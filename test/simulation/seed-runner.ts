import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { checkoutRoot, runnable } from '../kit/checkout.js';
import type { SeedVerdict } from './seed-worker.js';

export interface SeedRun {
  readonly from: number;
  readonly count: number;
  /** The compiled worker; another one simulates another copy of the library. */
  readonly script?: string;
  readonly onVerdict?: (verdict: SeedVerdict, done: number) => void;
  /** Ends the run as soon as a seed has failed. */
  readonly stopAtFirst?: boolean;
}

/** Simulates many seeds on all cores; resolves to the verdicts that found something, by seed. */
export async function runSeeds(run: SeedRun): Promise<SeedVerdict[]> {
  const { from, count, onVerdict, stopAtFirst = false } = run;
  const script = run.script ?? runnable(join(checkoutRoot, 'test/simulation/seed-worker.ts'));
  const failed: SeedVerdict[] = [];
  let next = from;
  let done = 0;
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(script);
      const end = (): void => {
        resolve();
        void worker.terminate();
      };
      const proceed = (): void => {
        const isOver = next >= from + count || (stopAtFirst && failed.length > 0);
        if (isOver) end();
        else worker.postMessage(next++);
      };
      worker.on('message', (verdict: SeedVerdict) => {
        done += 1;
        if (verdict.violations.length > 0) failed.push(verdict);
        onVerdict?.(verdict, done);
        proceed();
      });
      worker.on('error', reject);
      proceed();
    });
  const workers = Math.min(availableParallelism(), count);
  await Promise.all(Array.from({ length: workers }, work));
  return failed.toSorted((a, b) => a.seed - b.seed);
}
