/** What the documentation shows: the figures of a whole run, their picture, and a table of the main ones. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { checkoutRoot } from '../test/kit/checkout.js';
import { chartOf } from './chart.js';
import type { GrowthRow } from './report.js';
import { type Figure, isWithin, withUnit } from './table.js';

const FOLDER = join(checkoutRoot, 'bench', 'results');
const JSON_FILE = join(FOLDER, 'figures.json');
const README = join(checkoutRoot, 'README.md');
const BEGIN = '<!-- npm run bench writes what follows -->';
const END = '<!-- npm run bench wrote this -->';

/** What a reader of the README wants to know first, by how their names begin. */
const MAIN = [
  'join of a 4th, total a number',
  'hand-over of leadership',
  'graceful leave',
  'kill -9',
  'requests of a join, 50000 shards',
  'steady state, requests of a follower',
  'rolling restart of 16, each waited for',
  'next() for a join, 100000 shards',
  'the plan after',
  'owns()',
  'memory of a held shard',
  'longest block of an event loop, join, 100000 shards',
];

export interface Results {
  readonly figures: readonly Figure[];
  readonly growth: readonly GrowthRow[];
}

/** Writes them down, and shows them. */
export async function keep({ figures, growth }: Results): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFormatted(JSON_FILE, JSON.stringify({ figures, growth }));
  await show({ figures, growth });
}

/** Draws the last whole run once more, without measuring anything. */
export async function showAgain(): Promise<void> {
  await show(JSON.parse(await readFile(JSON_FILE, 'utf8')) as Results);
}

async function show({ figures, growth }: Results): Promise<void> {
  await writeFile(join(FOLDER, 'figures.svg'), chartOf(figures, growth));
  const readme = await readFile(README, 'utf8');
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`README.md has to have "${BEGIN}" and "${END}"`);
  const before = readme.slice(0, begin + BEGIN.length);
  await writeFormatted(README, `${before}\n\n${mainTable(figures)}\n\n${readme.slice(end)}`);
}

function mainTable(figures: readonly Figure[]): string {
  const main = MAIN.flatMap((start) => figures.filter(({ name }) => name.startsWith(start)));
  const rows = main.map((figure) => {
    const { name, measured, limit, unit, basis } = figure;
    const value = withUnit(measured, unit);
    return [
      name,
      isWithin(figure) ? value : `**over:** ${value}`,
      limit === undefined ? '' : withUnit(limit, unit),
      basis,
    ];
  });
  return [['what', 'measured', 'limit', 'the limit is'], ['-', '-:', '-:', '-'], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

async function writeFormatted(path: string, content: string): Promise<void> {
  const options = await resolveConfig(path);
  await writeFile(path, await format(content, { ...options, filepath: path }));
}
