import type { Environment } from '../registry/environment.js';
import {
  ANY_VERSION,
  type CreateMode,
  type NodeSnapshot,
  type OperationOptions,
  type Registry,
} from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { WakeableLoop, newScope } from './async.js';
import type { Keyspace } from './keyspace.js';
import type { Plan } from './plan.js';

/** Larger groups are not shown: that many nodes help nobody. */
const MAX_SHOWN = 1_000;
const EMPTY = Buffer.alloc(0);
/** In place of an id, where an item has no node. */
const NOBODY = '';

/**
 * The original system's view of the plan, for its tools: written by difference beside the protocol,
 * never awaited by it and never read to decide anything.
 */
export class SeedView {
  readonly #loop = new WakeableLoop(() => this.#round());
  readonly #ended = newScope();
  readonly #marker: Buffer;
  #plan: Plan | undefined;
  /** What we believe to be written: the holder's id by item. */
  #shown: Map<number, string> | undefined;
  #isLeaderShown = false;
  /** Undefined where a former leader or a failure may have left either. */
  #isProcessing: boolean | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
    private readonly keyspace: Keyspace,
    private readonly options: {
      readonly id: string;
      readonly incarnation: string;
      readonly session: string;
    },
  ) {
    this.#marker = Buffer.from(options.incarnation);
  }

  /** Whether this `necessary` is the one that we show, not somebody's request. */
  isOurs(necessary: NodeSnapshot): boolean {
    return necessary.data.equals(this.#marker);
  }

  show(plan: Plan): void {
    this.#plan = plan;
    this.#loop.wake();
  }

  close(): void {
    this.#ended.abort();
    void this.#loop.stop();
  }

  get #pinned(): OperationOptions {
    return { session: this.options.session, signal: this.#ended.signal };
  }

  async #round(): Promise<void> {
    const plan = this.#plan!;
    try {
      await this.#showLeader();
      if (!plan.settled) await this.#showProcessing(true);
      if (plan.total <= MAX_SHOWN) await this.#showItems(plan);
      if (plan.settled) await this.#showProcessing(false);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.environment.log.debug(`The view for tools is behind: ${(error as Error).message}`);
      this.#shown = undefined;
    }
  }

  async #showLeader(): Promise<void> {
    if (this.#isLeaderShown) return;
    await this.#put(this.keyspace.leader, Buffer.from(this.options.id), 'ephemeral');
    this.#isLeaderShown = true;
  }

  async #showProcessing(isProcessing: boolean): Promise<void> {
    if (this.#isProcessing === isProcessing) return;
    this.#isProcessing = undefined;
    if (isProcessing) {
      await this.#showNecessary();
      await this.#put(this.keyspace.processing, EMPTY, 'ephemeral');
    } else {
      await this.#remove(this.keyspace.processing);
      await this.#hideNecessary();
    }
    this.#isProcessing = isProcessing;
  }

  /** Where somebody's request stands already, it stays one. */
  async #showNecessary(): Promise<void> {
    const { necessary } = this.keyspace;
    try {
      await this.registry.create(necessary, this.#marker, { ...this.#pinned, parents: true });
    } catch (error) {
      if (registryErrorCode(error) !== 'NODE_EXISTS') throw error;
    }
  }

  /** Deletes what we have shown, never a request that somebody has made of it. */
  async #hideNecessary(): Promise<void> {
    const { necessary } = this.keyspace;
    try {
      const node = await this.registry.get(necessary, this.#pinned);
      if (!this.isOurs(node)) return;
      await this.registry.delete(necessary, node.stat.version, this.#pinned);
    } catch (error) {
      const code = registryErrorCode(error);
      if (code !== 'NO_NODE' && code !== 'BAD_VERSION') throw error;
    }
  }

  async #showItems(plan: Plan): Promise<void> {
    const shown = (this.#shown ??= await this.#readItems());
    for (const item of shown.keys()) {
      if (item < plan.total) continue;
      await this.#remove(this.keyspace.itemInstance(item));
      await this.#remove(`${this.keyspace.plan}/${item}`);
      shown.delete(item);
    }
    for (let item = 0; item < plan.total; item++) {
      const id = plan.members[plan.owners[item]!]?.id ?? NOBODY;
      if ((shown.get(item) ?? NOBODY) === id) continue;
      const path = this.keyspace.itemInstance(item);
      if (id === NOBODY) await this.#remove(path);
      else await this.#put(path, Buffer.from(id), 'persistent');
      shown.set(item, id);
    }
  }

  async #readItems(): Promise<Map<number, string>> {
    const names = await this.registry.children(this.keyspace.plan, this.#pinned);
    const items = names.map(Number).filter(Number.isInteger);
    const holders = await Promise.all(items.map((item) => this.#readItem(item)));
    return new Map(items.map((item, index) => [item, holders[index]!]));
  }

  async #readItem(item: number): Promise<string> {
    try {
      const { data } = await this.registry.get(this.keyspace.itemInstance(item), this.#pinned);
      return data.toString();
    } catch (error) {
      if (registryErrorCode(error) === 'NO_NODE') return NOBODY;
      throw error;
    }
  }

  /** Creates or replaces; an ephemeral node of a former leader gives way to ours. */
  async #put(path: string, data: Buffer, mode: CreateMode): Promise<void> {
    if (mode === 'persistent') {
      try {
        await this.registry.set(path, data, ANY_VERSION, this.#pinned);
        return;
      } catch (error) {
        if (registryErrorCode(error) !== 'NO_NODE') throw error;
      }
    } else await this.#remove(path);
    await this.registry.create(path, data, { ...this.#pinned, mode, parents: true });
  }

  async #remove(path: string): Promise<void> {
    try {
      await this.registry.delete(path, ANY_VERSION, this.#pinned);
    } catch (error) {
      if (registryErrorCode(error) !== 'NO_NODE') throw error;
    }
  }
}
