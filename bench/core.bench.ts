/**
 * What sharding costs, as ratios: W and R are the round trips of one write and one read, measured in the
 * same run on the same connection as what is compared with them.
 * `npm run bench [-- --rounds N] [--only section,…]`; `-- --redraw` shows the figures of the last whole run
 * once more, without measuring anything.
 */
import { parseArgs } from 'node:util';
import { ZooKeeperServer } from '../test/kit/zookeeper-server.js';
import { benchGrowth } from './growth.section.js';
import { TICK } from './limits.js';
import { benchPeer } from './peer.section.js';
import { benchPlanning, benchPlanSize } from './planning.section.js';
import { benchQuestions } from './questions.section.js';
import { isAsFewAsCanBe, Report } from './report.js';
import { keep, showAgain } from './results.js';
import {
  benchEventLoop,
  benchMemory,
  benchRequests,
  benchRollingRestart,
  benchSteady,
} from './running.section.js';
import { benchStrategies } from './strategies.section.js';
import { alignedTable, figureTable, isWithin, rounded, verdict } from './table.js';
import { benchCrash, benchJoin, benchLeave, onBothNetworks } from './timed.section.js';

const SECTIONS: Record<string, (report: Report) => Promise<void> | void> = {
  planning: benchPlanning,
  strategies: benchStrategies,
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

const ABOUT_GROWTH = `All instances of this table share one process: its times are those of one event loop that does the work
of all of them, so they stand beside what the protocol may take without being judged. Requests (without
the renewals of leases; at most 15 an instance, whatever the number of shards) and moves (exactly the
fewest possible) are judged. A crash of who holds nothing is over before anybody notices it.`;
const ABOUT_LIMITS = `W and R are the round trips of one write and one read in the same run. On loopback they cost less than the
work of the five processes that share the cores of this machine, so it is mostly CPU that is compared
with them; 4 ms away, as between machines, it is the protocol. Both are judged.`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    only: { type: 'string' },
    redraw: { type: 'boolean', default: false },
  },
});
if (values.redraw) {
  await showAgain();
  process.exit();
}
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

if (report.growth.length > 0) console.log(`${growthTable(report)}\n\n${ABOUT_GROWTH}\n`);
if (report.figures.length > 0) console.log(`${figureTable(report.figures)}\n\n${ABOUT_LIMITS}\n`);
if (values.only === undefined) {
  await keep(report);
  console.log('The figures and their chart are in bench/results, the main ones in README.md');
}
const over =
  report.figures.filter((figure) => !isWithin(figure)).length +
  report.growth.filter((row) => !isAsFewAsCanBe(row)).length;
console.log(over === 0 ? 'All are within their limits' : `${over} OVER their limit`);
process.exitCode = over === 0 ? 0 : 1;

function growthTable({ growth }: Report): string {
  const head = ['event', 'instances', 'shards', 'ms', 'of', 'limit is', 'requests', 'of'];
  const rows = growth.map((row) => [
    row.event,
    String(row.instances),
    String(row.shards),
    // Where nothing had to move, nothing took any time.
    row.milliseconds === 0 ? '-' : rounded(row.milliseconds),
    rounded(row.limit),
    row.basis,
    String(row.requests),
    String(row.requestLimit),
    rounded(row.kilobytes),
    String(row.moved),
    String(row.fewestMoves),
    verdict(isAsFewAsCanBe(row)),
  ]);
  return alignedTable([[...head, 'KB', 'moved', 'least', ''], ...rows]);
}
