import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { Operator } from '../e2e/operator.js';
import { withOpen } from '../e2e/with-open.js';
import { eventually } from '../kit/eventually.js';
import { temporaryFolder } from '../kit/reaper.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { fillDisk, SlowDisk } from './slow-disk.js';

const SLOW = 400;

/** Elsewhere chaos runs do without it, and say so. */
const isPossible =
  process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0;

(isPossible ? it : it.skip)('makes the disk of a server slow, then full', async () => {
  const folder = await temporaryFolder('nds-slow-disk-');
  try {
    const disk = (await SlowDisk.make(folder.path))!;
    await withOpen(await ZooKeeperServer.start(disk.options), async (server) => {
      await withOpen(await Operator.open(server.connect), async (operator) => {
        await disk.slow(server, SLOW);
        const begun = performance.now();
        await operator.create('/slow', '');
        expect(performance.now() - begun).toBeGreaterThanOrEqual(SLOW - 1);
        await disk.fast(server);
        await fillDisk(server);
        await operator.create('/full', '').catch(() => {});
        await eventually(async () => expect(await server.mode()).toBeUndefined());
      });
    });
  } finally {
    await folder.remove();
  }
});
