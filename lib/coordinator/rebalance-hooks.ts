import type {
  ShardAssignment,
  ShardingStartedEvent,
} from '../interfaces/sharding-values.interface.js';
import type { Environment } from '../registry/environment.js';
import { endsWithin, SerialQueue } from './async.js';
import type { CoordinatorHooks } from './coordinator.types.js';

/**
 * Runs @OnShardingStarted and @OnShardingCompleted, one after the other and in pairs: a rebalance that
 * was announced is concluded once, also where a session was lost in between.
 */
export class RebalanceHooks {
  readonly #queue = new SerialQueue();
  #isAnnounced = false;
  #announcements = 0;

  constructor(
    private readonly environment: Environment,
    private readonly hooks: CoordinatorHooks,
    private readonly limit: number,
  ) {}

  /** A rebalance was announced and has not been concluded. */
  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  /** Some @OnShardingStarted is still running: new shards start after it. */
  get isAnnouncing(): boolean {
    return this.#announcements > 0;
  }

  /** Resolves when all that has been announced so far has been told, or has overrun its time. */
  announced(): Promise<void> {
    return this.#queue.add(() => Promise.resolve());
  }

  async announce(event: ShardingStartedEvent): Promise<void> {
    this.#isAnnounced = true;
    this.#announcements += 1;
    await this.#run('@OnShardingStarted', () => this.hooks.shardingStarted(event));
    this.#announcements -= 1;
  }

  conclude(assignment: ShardAssignment): void {
    this.#isAnnounced = false;
    void this.#run('@OnShardingCompleted', () => this.hooks.shardingCompleted(assignment));
  }

  #run(name: string, hook: () => Promise<void>): Promise<void> {
    return this.#queue.add(async () => {
      if (await endsWithin(this.environment.clock, hook(), this.limit)) return;
      this.environment.log.error(
        `${name} did not end within ${this.limit} ms; going on without it`,
      );
    });
  }
}
