/** One instance as a process of its own: says what it owns, one JSON object a line, until SIGTERM. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { ShardingModuleRootOptions } from '../lib/index.js';
import { DemoLogger, DemoModule, type Report, Witness } from './demo-app.js';

/** What it writes to its stdout. */
export type Line = (Report & { readonly isLast?: true }) | { readonly warning: string };

/** Between two questions. */
const INTERVAL = 4;
/** Between two lines while nothing changes. */
const HEARTBEAT = 250;

const options = JSON.parse(process.argv[2] ?? '') as ShardingModuleRootOptions;
const say = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const logger = new DemoLogger(['warn', 'error'], (warning) => say({ warning }));
const app = await NestFactory.createApplicationContext(DemoModule.with(options), { logger });
const witness = app.get(Witness);

let said: Report = witness.ask();
let times = 0;
let longestPause = 0;

function ask(isLast = false): void {
  const report = witness.ask();
  const { look } = report;
  times += look.times;
  longestPause = Math.max(longestPause, look.longestPause);
  if (!isLast && isSame(report, said) && look.at - said.look.at < HEARTBEAT) return;
  say({ ...report, look: { ...look, times, longestPause }, ...(isLast && { isLast }) });
  said = report;
  times = longestPause = 0;
}

function isSame(a: Report, b: Report): boolean {
  return (
    a.status === b.status &&
    a.isLeader === b.isLeader &&
    a.look.items.join() === b.look.items.join() &&
    a.finishing.join() === b.finishing.join()
  );
}

const asking = setInterval(() => ask(), INTERVAL);

async function leave(): Promise<void> {
  await app.close();
  clearInterval(asking);
  ask(true);
}
process.once('SIGTERM', () => void leave());
