import { join } from 'node:path';
import { checkoutRoot } from '../test/kit/checkout.js';
import { eventually } from '../test/kit/eventually.js';
import { type NodeProcess, spawnNode } from '../test/kit/processes.js';
import type { GroupOptions, Moments, RoundTrips } from './instance.js';
import { now, sum } from './statistics.js';

export interface State extends Moments {
  readonly status: string;
  readonly items: number;
  readonly total: number;
  readonly isLeader: boolean;
}

/** An instance in its own process, from the benchmark's side. */
export class BenchProcess {
  private constructor(private readonly child: NodeProcess) {}

  static async connect(id: string, options: GroupOptions): Promise<BenchProcess> {
    const script = join(checkoutRoot, 'bench/instance.process.ts');
    const args = [id, JSON.stringify(options)];
    const child = await spawnNode(script, args, { nodeArgs: ['--expose-gc'] });
    await child.message<{ kind: string }>(({ kind }) => kind === 'connected', { timeout: 30_000 });
    return new BenchProcess(child);
  }

  roundTrips(): Promise<RoundTrips> {
    return this.#ask('trips');
  }

  /** Resolves when it is ready; the time at which it began. */
  async start(): Promise<number> {
    return (await this.#ask<{ at: number }>('start')).at;
  }

  /** Leaves in good order and lives on; the time at which it began to. */
  async leave(): Promise<number> {
    return (await this.#ask<{ at: number }>('leave')).at;
  }

  state(): Promise<State> {
    return this.#ask('state');
  }

  async resetLoop(): Promise<void> {
    await this.#ask('reset-loop');
  }

  /** The longest time in which its event loop did not turn, since the last reset. */
  async longestBlock(): Promise<number> {
    return (await this.#ask<{ longest: number }>('loop')).longest;
  }

  memory(): Promise<{ used: number; rss: number }> {
    return this.#ask('memory');
  }

  /** The time at which it was killed. */
  async kill(): Promise<number> {
    const at = now();
    await this.child.end('SIGKILL');
    return at;
  }

  #ask<T>(command: string): Promise<T> {
    return this.child.ask(command, 60_000);
  }
}

/** A group of processes that has come to rest; the first leads. */
export async function processGroup(size: number, options: GroupOptions): Promise<BenchProcess[]> {
  const group: BenchProcess[] = [];
  for (let index = 0; index < size; index++) {
    const instance = await BenchProcess.connect(`i${index}`, options);
    await instance.start();
    group.push(instance);
  }
  await atRest(group);
  return group;
}

/** Everyone is ready, all is owned, and one says that it leads. */
export async function atRest(group: readonly BenchProcess[]): Promise<State[]> {
  return eventually(
    async () => {
      const states = await Promise.all(group.map((instance) => instance.state()));
      const isAtRest =
        states.every(({ status }) => status === 'ready') &&
        sum(states.map(({ items }) => items)) === states[0]!.total &&
        states.filter(({ isLeader }) => isLeader).length === 1;
      return isAtRest && states;
    },
    { label: 'a group at rest', timeout: 60_000, interval: 20 },
  );
}

export async function killAll(group: readonly BenchProcess[]): Promise<void> {
  for (const instance of group) await instance.kill();
}
