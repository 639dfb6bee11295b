/** `npm start`: a group of instances whose members come, go, crash and freeze, and who holds what meanwhile. */
import 'reflect-metadata';
import { Audit } from './audit.js';
import { now } from './clock.js';
import { TOTAL } from './demo-app.js';
import { MemoryStage } from './memory-stage.js';
import { play } from './scenario.js';
import { isStage } from './screen.js';
import { MovingPicture, PlainLines, type Show } from './show.js';
import { CallSheet, type Stage } from './stage.js';
import { judge } from './summary.js';

const USAGE = `npm start                   several instances in this process, on the memory registry
npm start -- --zookeeper    a process for each, on a private ZooKeeper or the one of ZOOKEEPER_CONNECT
`;

/** For an audience to see what has happened before the next thing does. */
const REST = 1_500;
/** A terminal's Ctrl-C may reach us from the terminal and from npm: that is one, not two. */
const SAME_KEY = 500;

/** Gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--zookeeper');
  if (unknown !== undefined) {
    const isHelp = unknown === '--help' || unknown === '-h';
    (isHelp ? process.stdout : process.stderr).write(USAGE);
    return isHelp ? 0 : 2;
  }
  const audit = new Audit(TOTAL);
  const isMoving = isStage(process.stdout);
  const show: Show = isMoving
    ? new MovingPicture(process.stdout, audit)
    : new PlainLines(process.stdout, audit);
  const interrupted = interruption();
  const sheet = new CallSheet(audit, (message) => show.tell(message));
  let stage: Stage;
  try {
    stage = args.includes('--zookeeper') ? await zooKeeperStage(sheet) : new MemoryStage(sheet);
  } catch (error) {
    show.close();
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
  try {
    show.opens(stage);
    const start = now();
    const options = { rest: isMoving ? REST : 0, signal: interrupted };
    const outcomes = await play(stage, audit, show, options);
    const seconds = (now() - start) / 1_000;
    show.close('The end');
    // Before the verdict: also as they leave, no two may hold the same.
    await stage.close();
    const { isGood, lines } = judge(outcomes, audit, stage, seconds);
    process.stdout.write(`\n${lines.map((line) => ` ${line}\n`).join('')}`);
    process.stdout.write(isGood ? '\n all well\n' : '\n NOT well\n');
    return isGood ? 0 : 1;
  } catch (error) {
    show.close('Interrupted');
    await stage.close();
    if (!interrupted.aborted) throw error;
    process.stdout.write('\n interrupted: all instances have left\n');
    return 130;
  }
}

/** Only who wants it pays for the test kit and the native client. */
async function zooKeeperStage(sheet: CallSheet): Promise<Stage> {
  process.stdout.write('Looking for ZooKeeper …\n');
  const { ZooKeeperStage } = await import('./zookeeper-stage.js');
  return ZooKeeperStage.open(sheet);
}

/** Ctrl-C once: leave in good order. Twice: at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  const stop = (): void => {
    first ??= now();
    if (now() - first > SAME_KEY) process.exit(130);
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}
