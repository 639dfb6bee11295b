import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { runnable } from '../kit/checkout.js';

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export const MAIN = runnable(new URL('../../lib/cli/main.ts', import.meta.url));

/** Starts the command as a process of its own, without a terminal. */
export function startCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  const { PATH = '' } = process.env;
  return spawn(process.execPath, [MAIN, ...args], { env: { PATH, ...env }, stdio: 'pipe' });
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const [out, err, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}

/** What was said beside the answer, but for how far a drain is, which may be wrapped. */
export function withoutProgress(err: string): string {
  return err.replaceAll(/^\d+ items? left.*\n(?:(?!\d+ items? left|nest-sharding: ).*\n)*/gm, '');
}

export function command(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<Outcome> {
  return outcomeOf(startCommand(args, env));
}
