import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { runnable } from './checkout.js';
import { cleanStart } from './clean-start.js';
import { eventually } from './eventually.js';
import { GuardedProcess, started } from './guarded-process.js';

export interface SpawnNodeOptions {
  /** Added to this process's environment; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Arguments for node itself, before the script. */
  nodeArgs?: readonly string[];
}

export interface AwaitLineOptions {
  /** @default 10000 */
  timeout?: number;
  /** How many lines to pass over, such as `child.lines.length` for "from now on". @default 0 */
  after?: number;
}

/** A node process whose output is read line by line. */
export class NodeProcess extends GuardedProcess {
  /** Everything it has written to stdout so far. */
  readonly lines: string[] = [];
  /** Everything it has written to stderr so far. */
  readonly errors: string[] = [];
  private readonly listeners = new Set<(line: string) => void>();

  constructor(
    child: ChildProcess,
    private readonly script: string,
  ) {
    super(child);
    readLines(child.stdout, (line) => {
      this.lines.push(line);
      for (const listener of this.listeners) listener(line);
    });
    readLines(child.stderr, (line) => this.errors.push(line));
    // Writing to a process that has just been killed is no failure of the test.
    child.stdin?.on('error', () => {});
    for (const pipe of child.stdio) (pipe as Socket | null)?.unref();
  }

  /** @returns what to call to hear no more */
  onLine(listener: (line: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** The lines that are JSON, parsed; others are passed over. */
  get messages(): unknown[] {
    return this.lines.flatMap(parsed);
  }

  /** The first line that matches, written already or still to come; fails at once if the process ends. */
  async line(
    match: RegExp | ((line: string) => boolean),
    options?: AwaitLineOptions,
  ): Promise<string> {
    const matches = match instanceof RegExp ? (line: string) => match.test(line) : match;
    return this.find((lines) => lines.filter(matches), options);
  }

  /** The first JSON line that matches, parsed. */
  async message<T>(match: (message: T) => boolean, options?: AwaitLineOptions): Promise<T> {
    return this.find((lines) => (lines.flatMap(parsed) as T[]).filter(match), options);
  }

  /** Writes a line to its stdin. */
  send(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Writes a command to its stdin and awaits the JSON line that answers it, which has it as its `kind`. */
  async ask<T>(command: string, timeout: number): Promise<T> {
    const after = this.lines.length;
    this.send(command);
    const isAnswer = ({ kind }: T & { kind: string }): boolean => kind === command;
    return this.message<T & { kind: string }>(isAnswer, { after, timeout });
  }

  private async find<T>(
    select: (lines: string[]) => T[],
    { timeout = 10_000, after = 0 }: AwaitLineOptions = {},
  ): Promise<T> {
    const found = await eventually(
      () => {
        // In this order: what a process says last is still read after its end.
        const ended = this.outputEnded;
        const [first] = select(this.lines.slice(after));
        return first !== undefined ? { first } : ended ? { first: undefined } : false;
      },
      { timeout, label: `a line of ${this.script}` },
    ).catch((error: Error) => this.explain(error.message));
    return found.first ?? this.explain('it ended without the awaited line');
  }

  private get outputEnded(): boolean {
    return !this.running && this.child.stdout?.destroyed !== false;
  }

  private explain(reason: string): never {
    const output = [...this.lines.slice(-20), ...this.errors.slice(-20)].join('\n');
    throw new Error(`${this.script}: ${reason}; its last output:\n${output}`);
  }
}

/**
 * Starts a script on this version of node. A TypeScript source runs as compiled into `.build/`, where
 * the global set-up of jest has put it.
 */
export async function spawnNode(
  script: string | URL,
  args: readonly string[] = [],
  { env = {}, cwd, nodeArgs = [] }: SpawnNodeOptions = {},
): Promise<NodeProcess> {
  const path = runnable(script);
  const child = spawn(...cleanStart(process.execPath, [...nodeArgs, path, ...args]), {
    // The flags which jest needs are not meant for the scripts it tests.
    env: { ...process.env, NODE_OPTIONS: undefined, ...env },
    stdio: 'pipe',
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const node = new NodeProcess(child, path);
  await started(child);
  return node;
}

function readLines(input: Readable | null, listener: (line: string) => void): void {
  if (input !== null) createInterface({ input }).on('line', listener);
}

function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
