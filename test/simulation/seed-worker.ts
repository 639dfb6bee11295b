/** Simulates the seeds that it is sent, one by one, and answers with what was wrong in each. */
import { parentPort } from 'node:worker_threads';
import type { Violation } from './checker.js';
import { simulate } from './simulation.js';

export interface SeedVerdict {
  readonly seed: number;
  /** Undefined, like the next, if the seed has not come to its end. */
  readonly settledAfter?: number;
  readonly faults?: number;
  /** None if all is well. */
  readonly violations: readonly Violation[];
}

parentPort?.on('message', (seed: number) => {
  void judge(seed).then((verdict) => parentPort!.postMessage(verdict));
});

async function judge(seed: number): Promise<SeedVerdict> {
  const { violations, settledAfter, faults } = await simulate(seed);
  return {
    seed,
    settledAfter,
    faults: faults.length,
    violations,
  };
}
