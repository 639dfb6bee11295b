import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '../kit/checkout.js';
import { type NodeProcess, spawnNode } from '../kit/processes.js';

/** Long enough for a busy machine, short enough to wait for. */
export const SESSION_TIMEOUT = 2_000;

/** Within this time the shards of a killed process are with others: session, lease, margin, and some. */
export const TAKE_OVER = 15_000;

/** What a sample is told by its environment. */
export interface SampleEnvironment {
  readonly ZOOKEEPER_CONNECT?: string;
  readonly NAMESPACE: string;
  readonly [name: string]: string | undefined;
}

/** Samples import the package by its name, which leads to what was built. */
export async function assertBuilt(): Promise<void> {
  await access(join(checkoutRoot, 'dist/esm/index.js')).catch(() => {
    throw new Error('dist is missing: run `npm run build` first (`npm test` does)');
  });
}

/** One process of a sample. */
export async function startSample(name: string, env: SampleEnvironment): Promise<NodeProcess> {
  await assertBuilt();
  return startApp(join(checkoutRoot, 'sample', name, 'src/main.ts'), env);
}

/** One process of an application that behaves like a sample. */
export function startApp(main: string, env: SampleEnvironment, cwd?: string): Promise<NodeProcess> {
  return spawnNode(main, [], {
    env: {
      ZOOKEEPER_CONNECT: undefined,
      SESSION_TIMEOUT: String(SESSION_TIMEOUT),
      NO_COLOR: '1',
      ...env,
    },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** Ends those that still run. */
export async function endAll(processes: NodeProcess[]): Promise<void> {
  await Promise.all(processes.splice(0).map((process) => process.end('SIGKILL')));
}

/** What a process of sample 01 said last that it holds. */
export function heldBy(process: NodeProcess): readonly number[] {
  const line = process.lines.findLast((text) => text.includes('] holding '));
  return [...(line?.split(': ').at(-1)?.matchAll(/\d+/g) ?? [])].map(Number);
}
