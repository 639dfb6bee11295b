/**
 * npm run chaos -- [--minutes M] [--seed S]    faults of all kinds on real processes, judged
 * npm run chaos -- --freezes [N] [--seed S]    how close two holders come when a server loses the leader,
 *                                              in N freezes of each direction and session timeout alike
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutRoot } from '../kit/checkout.js';
import { runChaos } from './chaos.js';
import { gapsOf, runFreezes } from './freezes.js';
import { LiveLine } from './live-line.js';
import { freezeLine, freezeSummary, liveLine, summary } from './report.js';

const FREEZES = '300';
/** How a shell reports who was ended with Ctrl-C. */
const INTERRUPTED = 130;

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    freezes: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

function number(name: string, text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isFinite(value) && value > 0) return value;
  process.stderr.write(`${name}: ${JSON.stringify(text)} is not a number above 0\n`);
  process.exit(2);
}

const seed = number('--seed', values.seed);
const folder = join(checkoutRoot, '.build/chaos', String(seed));
const abort = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // Who asks twice does not want to wait: the guardian ends what is left.
    if (abort.signal.aborted) process.exit(INTERRUPTED);
    abort.abort();
    process.stderr.write('\nending …\n');
  });
}

async function chaos(): Promise<boolean> {
  const minutes = number('--minutes', values.minutes);
  console.log(`chaos: ${minutes} min, seed ${seed}; starting ZooKeeper and the apps`);
  const live = new LiveLine();
  const options = { duration: minutes * 60_000, seed, folder, signal: abort.signal };
  const progress = await runChaos({
    ...options,
    onProgress: (latest) => live.show(liveLine(latest)),
  });
  live.end();
  console.log(summary(progress, seed));
  return progress.violations.length === 0;
}

async function freezes(): Promise<boolean> {
  const count = Math.ceil(number('--freezes', positionals[0] ?? FREEZES));
  console.log(`freezes: ${count}, seed ${seed}; starting ZooKeeper and the apps`);
  const live = new LiveLine();
  const options = { freezes: count, seed, folder, signal: abort.signal };
  const progress = await runFreezes({
    ...options,
    onProgress: (latest) => live.show(freezeLine(latest)),
  });
  live.end();
  console.log(freezeSummary(progress));
  return progress.violations.length === 0 && gapsOf(progress.freezes).every((gap) => gap >= 0);
}

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const isWell = await (values.freezes ? freezes() : chaos());
if (isWell) await rm(folder, { recursive: true, force: true });
else console.log(`FAILED: the logs are in ${folder}`);
process.exit(abort.signal.aborted ? INTERRUPTED : isWell ? 0 : 1);
