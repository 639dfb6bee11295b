import { type Environment, silentLog } from '../../lib/registry/environment.js';
import {
  MemoryCluster,
  type MemoryClusterOptions,
  type MemoryRegistry,
  type MemoryRegistryOptions,
} from '../../lib/registry/memory/index.js';
import { SeededRandom } from './seeded-random.js';
import { type VirtualClock, VirtualTime } from './virtual-clock.js';

/** A memory cluster and its clients on one virtual time: no real timer, the same history every time. */
export class RegistryWorld {
  readonly time = new VirtualTime();
  readonly clock: VirtualClock = this.time.clock();
  readonly random: SeededRandom;
  readonly cluster: MemoryCluster;

  constructor({ seed = 1, ...options }: MemoryClusterOptions & { seed?: number } = {}) {
    this.random = new SeededRandom(seed);
    const { clock, random } = this;
    this.cluster = new MemoryCluster({
      timed: true,
      sessionTimeout: 1_000,
      ...options,
      clock,
      random,
    });
  }

  get environment(): Environment {
    return { clock: this.clock, random: this.random, log: silentLog };
  }

  /** A client that has not been told to connect yet. */
  client(options: MemoryRegistryOptions = {}): MemoryRegistry {
    return this.cluster.registry({ environment: this.environment, ...options });
  }

  async open(options?: MemoryRegistryOptions): Promise<MemoryRegistry> {
    const registry = this.client(options);
    await this.run(registry.connect());
    return registry;
  }

  /** Lets time pass until the promise has ended, and gives its answer. */
  async run<T>(promise: Promise<T>, limit?: number): Promise<T> {
    let ended = false;
    const answer = promise.finally(() => (ended = true));
    // Whoever awaits the answer gets the reason; until then it is not unhandled.
    answer.catch(() => {});
    await this.time.runUntil(() => ended, limit);
    return answer;
  }
}
