import { Coordinator } from '../../lib/coordinator/coordinator.js';
import type {
  CoordinatorHooks,
  CoordinatorOptions,
} from '../../lib/coordinator/coordinator.types.js';
import type { Shard } from '../../lib/interfaces/sharding-values.interface.js';
import type { Environment, Log } from '../../lib/registry/environment.js';
import type { MemoryCluster, MemoryRegistry } from '../../lib/registry/memory/index.js';
import type { SeededRandom } from '../kit/seeded-random.js';
import type { VirtualClock } from '../kit/virtual-clock.js';
import type { Happening } from './history.js';
import { zoneOf } from './operators.js';
import { ProcessClock } from './process-clock.js';

/** How the application of a process behaves. */
export interface Temper {
  /** How long a worker takes to end after its signal; Infinity: it never does. */
  readonly drain: () => number;
  /** How long the other hooks take. */
  readonly hook: () => number;
  /** Whether a hook throws. */
  readonly throws: () => boolean;
}

/** What a process does in the world that others can see. */
export interface World {
  readonly cluster: MemoryCluster;
  report(happening: Happening): void;
  /** An item, or the leadership, begins to be claimed: everyone is asked at this instant. */
  askAll(): void;
  /** A write to the fenced resource. */
  write(who: string, item: number, token: bigint): void;
}

/** One process with the real coordinator, on a clock of its own. */
export class SimulatedProcess {
  readonly coordinator: Coordinator;
  readonly clock: ProcessClock;
  readonly registry: MemoryRegistry;
  #state: 'running' | 'paused' | 'stopping' | 'gone' = 'running';
  #isDrained = false;
  /** The last shard of each item that this process was given. */
  readonly #shards = new Map<number, Shard>();
  /** What it said when it was last asked. */
  readonly #claims = new Set<Shard>();
  #saysItLeads = false;

  constructor(
    private readonly world: World,
    /** Its name in the history: one id may have several lives. */
    readonly name: string,
    readonly id: string,
    readonly machine: VirtualClock,
    private readonly random: SeededRandom,
    private readonly options: Omit<CoordinatorOptions, 'instance'> & { sessionTimeout: number },
    private readonly temper: Temper,
  ) {
    this.clock = new ProcessClock(machine);
    const environment: Environment = { clock: this.clock, random, log: this.#log() };
    this.registry = world.cluster.registry({
      label: name,
      sessionTimeout: options.sessionTimeout,
      environment,
    });
    const instance = { id, ip: '10.0.0.1', pid: 1, weight: 1, labels: { zone: zoneOf(id) } };
    this.coordinator = new Coordinator(
      this.registry,
      { ...options, instance },
      this.#hooks(),
      environment,
    );
  }

  get isAlive(): boolean {
    return this.#state !== 'gone';
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isDrained(): boolean {
    return this.#isDrained;
  }

  start(): void {
    this.coordinator
      .start()
      .catch((error: unknown) => this.#note(`start failed: ${String(error)}`));
  }

  /** Answers every question there is about what it holds, and whether it leads. */
  testify(): void {
    const { coordinator, name: who } = this;
    const items = new Set(coordinator.items);
    for (const [item, shard] of this.#shards) {
      const { token, total } = shard;
      // A shard that is being drained is not owned any more, but its worker may still use the token.
      const isHeld =
        coordinator.owns(item) ||
        items.has(item) ||
        coordinator.token(item) !== undefined ||
        shard.valid;
      if (isHeld) {
        this.#claims.add(shard);
        this.world.report({ kind: 'owns', who, item, token, total });
      } else if (this.#claims.delete(shard)) {
        this.world.report({ kind: 'disowns', who, item, token });
      }
    }
    const { isLeader } = coordinator;
    if (isLeader) this.world.report({ kind: 'leads', who });
    else if (this.#saysItLeads) this.world.report({ kind: 'leads-no-more', who });
    this.#saysItLeads = isLeader;
  }

  pause({ isAsleep = false } = {}): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.registry.link.freeze('both');
    this.clock.pause({ isAsleep });
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    this.clock.resume();
    // Whoever wakes has to know at once, before its event loop has run anything.
    this.world.askAll();
    this.registry.link.thaw();
  }

  kill(): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.clock.kill();
    this.registry.link.crash();
    this.world.report({ kind: 'died', who: this.name });
  }

  /** Leaves in good order. */
  stop(): void {
    if (this.#state !== 'running') return;
    this.#state = 'stopping';
    void this.#stop();
  }

  async #stop(): Promise<void> {
    await this.coordinator.stop();
    await this.registry.close();
    if (this.#state !== 'stopping') return;
    this.#state = 'gone';
    this.world.report({ kind: 'died', who: this.name });
  }

  reshard(): void {
    this.coordinator
      .reshard()
      .catch((error: unknown) => this.#note(`reshard failed: ${String(error)}`));
  }

  drain(): void {
    this.#isDrained = true;
    this.coordinator
      .drain()
      .catch((error: unknown) => this.#note(`drain failed: ${String(error)}`));
  }

  undrain(): void {
    this.#isDrained = false;
    this.coordinator
      .resume()
      .catch((error: unknown) => this.#note(`resume failed: ${String(error)}`));
  }

  #hooks(): CoordinatorHooks {
    const who = this.name;
    const { world } = this;
    return {
      leader: async ({ term, signal }) => {
        world.report({ kind: 'leader', who, term });
        world.askAll();
        await this.#until(signal);
        await this.#hook();
      },
      leaderLost: async () => {
        world.report({ kind: 'leader-lost', who });
        await this.#hook();
      },
      shardingStarted: async () => {
        world.report({ kind: 'started', who });
        await this.#hook();
      },
      shardingCompleted: async () => {
        world.report({ kind: 'completed', who });
        await this.#hook();
      },
      shardAcquired: async (shard) => {
        const { item, token, total } = shard;
        this.#shards.set(item, shard);
        world.report({ kind: 'acquired', who, item, token, total });
        world.askAll();
        await this.#work(shard);
      },
      shardReleased: async ({ item, token }) => {
        world.report({ kind: 'released', who, item, token });
        await this.#hook();
      },
    };
  }

  /** Writes now and then, without looking at the lease: the resource has to refuse what is stale. */
  async #work(shard: Shard): Promise<void> {
    const { item, token, signal } = shard;
    const who = this.name;
    if (this.temper.throws()) return this.world.report({ kind: 'ended', who, item, token });
    let isEnded = false;
    const writeOn = (): void => {
      if (isEnded) return;
      this.world.write(this.name, item, token);
      this.clock.setTimer(writeOn, 200 + this.random.below(1_000));
    };
    writeOn();
    const takes = this.temper.drain();
    const isInTime = takes < this.options.drainTimeout;
    signal.addEventListener('abort', () => {
      const isOwned = this.coordinator.owns(item);
      this.world.report({ kind: 'told', who, item, token, isOwned, isInTime });
    });
    await this.#until(signal);
    await this.#wait(takes);
    isEnded = true;
    this.world.report({ kind: 'ended', who, item, token });
  }

  async #hook(): Promise<void> {
    await this.#wait(this.temper.hook());
  }

  #until(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  }

  #wait(milliseconds: number): Promise<void> {
    if (milliseconds === 0) return Promise.resolve();
    if (milliseconds === Infinity) return new Promise(() => {});
    return new Promise((resolve) => void this.clock.setTimer(resolve, milliseconds));
  }

  #log(): Log {
    const note = (message: string): void => this.#note(message);
    return {
      debug: note,
      log: note,
      warn: note,
      error: (message, stack) => note(stack ?? message),
    };
  }

  #note(text: string): void {
    this.world.report({ kind: 'note', text: `${this.name}: ${text}` });
  }
}
