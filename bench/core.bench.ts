/**
 * What sharding costs, as ratios: W and R are the round trips of one write and one read, measured in the
 * same run on the same connection as what is compared with them.
 * `npm run bench [-- --rounds N] [--only section,…]`
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format } from 'prettier';
import { checkoutRoot } from '../test/kit/checkout.js';
import { ZooKeeperServer } from '../test/kit/zookeeper-server.js';
import { chartOf } from './chart.js';
import { benchGrowth } from './growth.section.js';
import { benchPeer } from './peer.section.js';
import { benchPlanning, benchPlanSize } from './planning.section.js';
import { benchQuestions } from './questions.section.js';
import { Report } from './report.js';
import {
  benchEventLoop,
  benchMemory,
  benchRequests,
  benchRollingRestart,
  benchSteady,
} from './running.section.js';
import { alignedTable, figureTable, isWithin, rounded } from './table.js';
import { benchCrash, benchJoin, benchLeave, onBothNetworks, TICK } from './timed.section.js';

const SECTIONS: Record<string, (report: Report) => Promise<void> | void> = {
  planning: benchPlanning,
  questions: benchQuestions,
  join: (report) => onBothNetworks(report, benchJoin),
  requests: benchRequests,
  peer: benchPeer,
  leave: (report) => onBothNetworks(report, benchLeave),
  steady: benchSteady,
  crash: benchCrash,
  loop: benchEventLoop,
  memory: benchMemory,
  rolling: benchRollingRestart,
  growth: benchGrowth,
  'plan-size': benchPlanSize,
};
/** As in production: a write is answered when it is on the disk, which the tests do without. */
const SETTINGS = { forceSync: 'yes', maxSessionTimeout: '60000' };

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, only: { type: 'string' } },
});
const chosen = values.only?.split(',') ?? Object.keys(SECTIONS);
for (const name of chosen) {
  if (SECTIONS[name]) continue;
  console.error(`There is no section "${name}": choose from ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(2);
}

const given = process.env['ZOOKEEPER_CONNECT'];
const server = given
  ? undefined
  : await ZooKeeperServer.start({ tickTime: TICK, settings: SETTINGS });
const report = new Report(given ?? server!.connect, Number(values.rounds));
try {
  for (const name of chosen) await SECTIONS[name]!(report);
} finally {
  await server?.close();
}

if (report.growth.length > 0) console.log(`${growthTable(report)}\n`);
if (report.figures.length > 0) console.log(figureTable(report.figures));
if (values.only === undefined) await keep(report);
process.exitCode = report.figures.every(isWithin) ? 0 : 1;

/** What the documentation shows: the figures of a whole run and their picture. */
async function keep({ figures, growth }: Report): Promise<void> {
  const folder = join(checkoutRoot, 'bench', 'results');
  await mkdir(folder, { recursive: true });
  const json = await format(JSON.stringify({ figures, growth }), { parser: 'json' });
  await writeFile(join(folder, 'figures.json'), json);
  await writeFile(join(folder, 'figures.svg'), chartOf(figures, growth));
  console.log('\nThe figures and their chart are in bench/results');
}

function growthTable({ growth }: Report): string {
  const head = [
    'event',
    'instances',
    'shards',
    'ms',
    'round trips',
    'requests',
    'KB',
    'moved',
    'least',
  ];
  const rows = growth.map((row) => [
    row.event,
    String(row.instances),
    String(row.shards),
    rounded(row.milliseconds),
    row.roundTrips.toFixed(1),
    String(row.requests),
    rounded(row.kilobytes),
    String(row.moved),
    String(row.fewestMoves),
  ]);
  return alignedTable([head, ...rows]);
}
