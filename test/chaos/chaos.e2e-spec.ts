import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../kit/reaper.js';
import { runChaos } from './chaos.js';
import { summary } from './report.js';

const SEED = 20;
/** A wedge lasts for good, so there is no harm in waiting for longer on a machine full of other tests. */
const BOUND = 90_000;

describe('chaos', () => {
  it('breaks nothing in half a minute', async () => {
    const folder = await temporaryFolder('nds-chaos-logs-');
    try {
      const run = { duration: 25_000, seed: SEED, folder: folder.path, bound: BOUND };
      const progress = await runChaos(run);
      const { violations, faults, accepted, rounds } = progress;
      // The whole summary, for whoever has to find out why.
      expect(violations.length === 0 ? '' : summary(progress, SEED)).toBe('');
      expect(rounds).toBeGreaterThan(0);
      expect(faults.length).toBeGreaterThan(3);
      expect(accepted).toBeGreaterThan(0);
    } finally {
      await folder.remove();
    }
  }, 300_000);
});
