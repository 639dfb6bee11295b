import { join } from 'node:path';
import { checkoutRoot } from '../test/kit/checkout.js';
import { eventually } from '../test/kit/eventually.js';
import { type NodeProcess, spawnNode } from '../test/kit/processes.js';
import type { GroupOptions, MomentKind } from './bench-group.js';

interface Said {
  readonly kind: string;
  readonly at: number;
}

interface State extends Said {
  readonly status: string;
  readonly items: number;
  readonly total: number;
  readonly isLeader: boolean;
}

/** An instance in its own process, from the benchmark's side. */
export class BenchProcess {
  private constructor(private readonly child: NodeProcess) {}

  static async connect(id: string, options: GroupOptions): Promise<BenchProcess> {
    const script = join(checkoutRoot, 'bench/bench-instance.ts');
    const child = await spawnNode(script, [id, JSON.stringify(options)]);
    await child.message<Said>(({ kind }) => kind === 'connected', { timeout: 30_000 });
    return new BenchProcess(child);
  }

  async roundTrips(): Promise<{ write: number; read: number }> {
    return this.#ask<Said & { write: number; read: number }>('trips', 'measured');
  }

  /** Resolves when it is ready; the time at which it was told to start. */
  async start(): Promise<number> {
    await this.#ask('start', 'ready');
    return this.#last('start');
  }

  async state(): Promise<State> {
    return this.#ask('state', 'told');
  }

  /** The last time that this happened to it, or 0. */
  lastMoment(kind: MomentKind): number {
    return this.#last(kind);
  }

  count(kind: MomentKind): number {
    return this.#said(kind).length;
  }

  /** Leaves in good order; the time at which it was told to. */
  async stop(): Promise<number> {
    this.child.send('stop');
    // Polled, since the kit's processes do not keep this one alive.
    await eventually(() => !this.child.running, { timeout: 30_000, label: 'it has left' });
    return this.#last('stop');
  }

  async kill(): Promise<number> {
    const at = Number(process.hrtime.bigint()) / 1e6;
    await this.child.end('SIGKILL');
    return at;
  }

  #said(kind: string): Said[] {
    return (this.child.messages as Said[]).filter((said) => said.kind === kind);
  }

  #last(kind: string): number {
    return this.#said(kind).at(-1)?.at ?? 0;
  }

  async #ask<T extends Said>(command: string, answer: string): Promise<T> {
    const after = this.child.lines.length;
    this.child.send(command);
    return this.child.message<T>(({ kind }) => kind === answer, { after, timeout: 60_000 });
  }
}

/** A group of processes that has come to rest. */
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
export async function atRest(group: readonly BenchProcess[]): Promise<void> {
  await eventually(
    async () => {
      const states = await Promise.all(group.map((instance) => instance.state()));
      const items = states.reduce((sum, state) => sum + state.items, 0);
      return (
        states.every(({ status }) => status === 'ready') &&
        items === states[0]!.total &&
        states.filter(({ isLeader }) => isLeader).length === 1
      );
    },
    { label: 'a group at rest', timeout: 60_000, interval: 20 },
  );
}
