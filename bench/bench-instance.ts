/**
 * An instance in a process of its own, as in production. Told on stdin what to do; says on stdout, one
 * JSON line each, what happened and when, on the clock that all processes of the machine share.
 */
import { createInterface } from 'node:readline';
import { BenchInstance, type GroupOptions } from './bench-group.js';

const [id, settings] = process.argv.slice(2) as [string, string];
const options = JSON.parse(settings) as GroupOptions;
const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`);

const instance = await BenchInstance.connect(id, { ...options, isDirect: true });
instance.onMoment = (kind) => say({ kind, at: now() });
createInterface({ input: process.stdin }).on('line', (command) => void obey(command));
say({ kind: 'connected', at: now() });

async function obey(command: string): Promise<void> {
  const { coordinator } = instance;
  say({ kind: command, at: now() });
  switch (command) {
    case 'trips':
      return say({
        kind: 'measured',
        ...(await instance.roundTrips(`/${options.namespace}-probe`)),
      });
    case 'start':
      await coordinator.start();
      return say({ kind: 'ready', at: now() });
    case 'state':
      return say({
        kind: 'told',
        status: coordinator.status,
        items: coordinator.items.length,
        total: coordinator.total,
        isLeader: coordinator.isLeader,
      });
    case 'stop':
      await instance.close();
      process.exit();
  }
}
