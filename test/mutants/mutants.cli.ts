/**
 * npm run mutants -- [--only name,name] [--max-seeds 20000] [--from S] [--list]
 *
 * Breaks the protocol in one way after the other and lets the simulation find out.
 */
import { parseArgs } from 'node:util';
import { type Break, breaks, harmless } from './breaks.js';
import { type Catch, hunt } from './hunt.js';
import { applyBreak, BreakError, makeMutant } from './mutant.js';
import { Progress } from './progress.js';

/** More would only make each slower, and give the machine to nobody else. */
const AT_A_TIME = 2;
const PATIENCE = 60_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    'max-seeds': { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function wholeNumber(name: 'max-seeds' | 'from'): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  fail(`--${name}: ${JSON.stringify(values[name])} is not a whole number`);
}

function chosen(): readonly Break[] {
  if (values.only === undefined) return breaks;
  return values.only.split(',').map((name) => {
    const found = [...breaks, ...harmless].find((known) => known.name === name);
    return found ?? fail(`--only: there is no break ${JSON.stringify(name)}; --list names them`);
  });
}

interface Row {
  readonly broken: Break;
  readonly caught: Catch | undefined;
  readonly seconds: number;
}

async function tryOut(broken: Break, progress: Progress): Promise<Row> {
  const started = performance.now();
  const script = await makeMutant(broken);
  const caught = await hunt({
    name: broken.name,
    script,
    from: wholeNumber('from'),
    maxSeeds: wholeNumber('max-seeds'),
    patience: PATIENCE,
    onSeed: (seeds) => progress.show(broken.name, `${seeds} seeds`),
  });
  const seconds = (performance.now() - started) / 1_000;
  progress.end(
    broken.name,
    caught
      ? `caught in seed ${caught.seed}: ${caught.by}: ${caught.text}`
      : `NOT CAUGHT in ${values['max-seeds']} seeds`,
  );
  return { broken, caught, seconds };
}

async function tryAll(all: readonly Break[]): Promise<Row[]> {
  const rows: Row[] = [];
  const progress = new Progress(process.stderr);
  const left = [...all];
  const work = async (): Promise<void> => {
    for (let broken = left.shift(); broken; broken = left.shift()) {
      rows.push(await tryOut(broken, progress));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return rows.toSorted((a, b) => all.indexOf(a.broken) - all.indexOf(b.broken));
}

function print(rows: readonly Row[]): void {
  const cells = rows.map(({ broken, caught, seconds }) => [
    broken.name,
    caught?.by ?? 'NOT CAUGHT',
    caught ? String(caught.seeds) : '',
    caught ? String(caught.seed) : '',
    seconds.toFixed(1),
  ]);
  const table = [['break', 'caught by', 'seeds', 'seed', 'seconds'], ...cells];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table) {
    const line = row.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    console.log(line.join('  ').trimEnd());
  }
  const caught = rows.filter((row) => row.caught).length;
  console.log(`\n${caught} of ${rows.length} breaks caught`);
}

async function main(): Promise<number> {
  const all = chosen();
  if (values.list) {
    for (const { name, breaks: sentence } of all) console.log(`${name}\n    ${sentence}`);
    if (values.only !== undefined) return 0;
    for (const { name, breaks: sentence, because } of harmless) {
      console.log(
        `${name}: not hunted, harmless\n    ${sentence}\n    Harmless because ${because}.`,
      );
    }
    return 0;
  }
  try {
    // First all of them: a source that has moved on is told before anything takes its time.
    for (const broken of all) await applyBreak(broken);
    const rows = await tryAll(all);
    print(rows);
    return rows.every(({ caught }) => caught) ? 0 : 1;
  } catch (error) {
    process.stderr.write(error instanceof BreakError ? `${error.message}\n` : `${String(error)}\n`);
    return 1;
  }
}

process.exit(await main());
