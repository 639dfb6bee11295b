import type {
  CoordinatorHooks,
  CoordinatorOptions,
} from '../../lib/coordinator/coordinator.types.js';
import { deferred, type Deferred } from './eventually.js';

/** Options as the module would make them, of the instance `a` in the namespace `group`. */
export function coordinatorOptions(change: Partial<CoordinatorOptions> = {}): CoordinatorOptions {
  return {
    namespace: 'group',
    instance: { id: 'a', ip: '10.0.0.1', pid: 1, weight: 1, labels: {} },
    total: 4,
    strategy: undefined,
    strategies: {},
    onConfigMismatch: 'keep',
    lease: { duration: undefined, margin: undefined },
    startup: { wait: true, timeout: 30_000 },
    drainTimeout: 1_000,
    rebalanceDelay: 0,
    rejoin: { window: 0, lends: false },
    seedView: false,
    ...change,
  };
}

/** Hooks that write down what they are told; each may be made to hang or to reject. */
export class RecordingHooks implements CoordinatorHooks {
  readonly events: string[] = [];
  readonly #gates = new Map<string, Deferred<void>>();

  /** From now on this hook, such as `acquired 3`, ends only when told to. */
  hold(name: string): Deferred<void> {
    const gate = deferred();
    this.#gates.set(name, gate);
    return gate;
  }

  async leader({ term }: Parameters<CoordinatorHooks['leader']>[0]): Promise<void> {
    await this.#tell('leader', String(term));
  }

  async leaderLost(): Promise<void> {
    await this.#tell('leaderLost');
  }

  async shardingStarted(event: Parameters<CoordinatorHooks['shardingStarted']>[0]): Promise<void> {
    const { losing, keeping } = event;
    await this.#tell('started', `-${losing.join()} =${keeping.join()}`);
  }

  async shardingCompleted(
    event: Parameters<CoordinatorHooks['shardingCompleted']>[0],
  ): Promise<void> {
    const { items, added, removed } = event;
    await this.#tell('completed', `${items.join()} +${added.join()} -${removed.join()}`);
  }

  async shardAcquired(shard: Parameters<CoordinatorHooks['shardAcquired']>[0]): Promise<void> {
    await this.#tell(`acquired ${shard.item}`, String(shard.token));
  }

  async shardReleased(event: Parameters<CoordinatorHooks['shardReleased']>[0]): Promise<void> {
    await this.#tell(`released ${event.item}`, event.reason);
  }

  async #tell(name: string, detail = ''): Promise<void> {
    this.events.push(`${name} ${detail}`.trim().replaceAll('  ', ' '));
    const gate = this.#gates.get(name);
    if (!gate) return;
    await gate.promise;
    this.events.push(`end of ${name}`);
  }
}
