import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '../kit/checkout.js';

interface Suffered {
  readonly scenario: string;
  readonly total: number | 'instances';
  /** The longest time that any shard had no owner, in milliseconds. */
  readonly gap: number;
  /** How many leases ran out meanwhile: some faults are to have none, and show a machine too busy. */
  readonly lapses: number;
}

/** One fault. */
interface Recovery extends Suffered {
  /** From the end of the fault until everything was as it should be. */
  readonly settled: number;
  readonly bound: number;
}

/** One instance after the other. */
interface RollingRestart extends Suffered {
  /** How often a shard got another holder than it had last. */
  readonly moves: number;
}

export type FaultRow = Recovery | RollingRestart;

const ROWS = join(checkoutRoot, '.build/fault-table');
const TABLE = join(checkoutRoot, '.build/fault-table.txt');

/** Says one line, and keeps it: test files run in processes of their own, so each row is a file. */
export async function report(row: FaultRow): Promise<void> {
  process.stdout.write(`fault  ${format(row)}\n`);
  await mkdir(ROWS, { recursive: true });
  const name = `${row.scenario} ${row.total}`.replaceAll(/[^a-z0-9]+/gi, '-');
  await replace(join(ROWS, `${name}.json`), JSON.stringify(row));
  await replace(TABLE, await table());
}

async function table(): Promise<string> {
  const files = (await readdir(ROWS)).filter((file) => file.endsWith('.json')).toSorted();
  const rows = await Promise.all(files.map((file) => readFile(join(ROWS, file), 'utf8')));
  return rows.map((row) => `${format(JSON.parse(row) as FaultRow)}\n`).join('');
}

function format(row: FaultRow): string {
  const { scenario, total, gap, lapses } = row;
  const what = `${scenario} (total: ${total})`.padEnd(84);
  const longest = `longest gap ${Math.round(gap)} ms`.padEnd(22);
  const outcome =
    'moves' in row
      ? `${row.moves} moves`
      : `settled after ${Math.round(row.settled)} ms of ${row.bound}`;
  return `${what} ${longest} ${outcome}, ${lapses} lapses`;
}

let drafts = 0;

async function replace(file: string, text: string): Promise<void> {
  drafts += 1;
  const draft = `${file}.${process.pid}.${drafts}`;
  await writeFile(draft, text);
  await rename(draft, file);
}
