/**
 * An instance in a process of its own, as in production. Told on stdin what to do; answers on stdout,
 * one JSON line each.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { BenchInstance, type GroupOptions } from './instance.js';

const [id, settings] = process.argv.slice(2) as [string, string];
const instance = await BenchInstance.connect(id, JSON.parse(settings) as GroupOptions);
const loop = monitorEventLoopDelay({ resolution: 1 });

const commands: Record<string, () => Promise<object> | object> = {
  trips: () => instance.roundTrips(),
  start: async () => ({ at: await instance.start() }),
  leave: async () => ({ at: await instance.leave() }),
  state: () => {
    const { status, assignment, total, isLeader } = instance.coordinator;
    return { status, items: assignment.items.length, total, isLeader, ...instance.moments };
  },
  // Not before it is asked for: it wakes the process every millisecond, which would be measured as well.
  'reset-loop': () => (loop.enable(), loop.reset(), {}),
  // The histogram counts its own interval of a millisecond too.
  loop: () => ({ longest: Math.max(0, loop.max / 1e6 - 1) }),
  memory: () => {
    globalThis.gc!();
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    return { used: heapUsed + arrayBuffers, rss };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => void obey(line));
say({ kind: 'connected' });

async function obey(command: string): Promise<void> {
  say({ kind: command, ...(await commands[command]!()) });
}

function say(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
