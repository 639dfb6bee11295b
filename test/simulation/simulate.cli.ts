/**
 * npm run simulate -- [--seeds N] [--from S]      many seeds, with a progress line
 * npm run simulate -- --seed S [--trace] [--shrink]  one seed again, readable
 */
import { parseArgs } from 'node:util';
import { describeViolation } from './checker.js';
import { describeEvent } from './history.js';
import { runSeeds } from './seed-runner.js';
import { shrink } from './shrink.js';
import { simulate, type SimulationResult } from './simulation.js';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
  },
});

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name}: ${JSON.stringify(text)} is not a whole number\n`);
  process.exit(2);
}

async function replay(seed: number): Promise<boolean> {
  const result = values.shrink
    ? await shrink(seed, (faults) => process.stderr.write(`fails with ${faults} faults\n`))
    : await simulate(seed);
  if (values.trace) for (const event of result.history) console.log(describeEvent(event));
  report(result);
  return result.violations.length === 0;
}

function report({ seed, violations, faults, settledAfter }: SimulationResult): void {
  console.log(
    `seed ${seed}: ${faults.length} faults, settled ${settledAfter.toFixed(0)} ms after them`,
  );
  if (values.shrink) for (const fault of faults) console.log(`  ${JSON.stringify(fault)}`);
  for (const violation of violations) console.log(`  VIOLATED at ${describeViolation(violation)}`);
}

async function runMany(from: number, count: number): Promise<boolean> {
  const started = performance.now();
  let faults = 0;
  let longest = 0;
  let shown = 0;
  const rate = (done: number): string =>
    ((done / (performance.now() - started)) * 1_000).toFixed(1);
  const failed = await runSeeds({
    from,
    count,
    onVerdict: (verdict, done) => {
      faults += verdict.faults ?? 0;
      longest = Math.max(longest, verdict.settledAfter ?? 0);
      for (const violation of verdict.violations) {
        console.log(`seed ${verdict.seed}: ${describeViolation(violation)}`);
      }
      if (performance.now() - shown < 1_000) return;
      shown = performance.now();
      process.stderr.write(`\r${done} of ${count} seeds, ${rate(done)} a second `);
    },
  });
  process.stderr.write('\r');
  console.log(
    `${count} seeds from ${from}: ${failed.length} failed; ${faults} faults, longest settling ` +
      `${(longest / 1_000).toFixed(1)} s of virtual time, ${rate(count)} seeds a second`,
  );
  for (const { seed } of failed.slice(0, 5)) {
    console.log(`replay: npm run simulate -- --seed ${seed} --trace   (or --shrink)`);
  }
  return failed.length === 0;
}

const isWell =
  values.seed === undefined
    ? await runMany(wholeNumber('from', values.from), wholeNumber('seeds', values.seeds))
    : await replay(wholeNumber('seed', values.seed));
process.exitCode = isWell ? 0 : 1;
