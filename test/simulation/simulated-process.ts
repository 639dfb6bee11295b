import { Coordinator } from '../../lib/coordinator/coordinator.js';
import type { CoordinatorOptions } from '../../lib/coordinator/coordinator.types.js';
import type { Shard } from '../../lib/interfaces/sharding-values.interface.js';
import type { HookKind } from '../../lib/interfaces/sharding-metadata.interface.js';
import type { Environment, Log } from '../../lib/registry/environment.js';
import type { MemoryCluster, MemoryRegistry } from '../../lib/registry/memory/index.js';
import { HookDispatcher, type HookListener } from '../../lib/sharding.dispatcher.js';
import type { SeededRandom } from '../kit/seeded-random.js';
import type { VirtualClock } from '../kit/virtual-clock.js';
import type { Happening } from './history.js';
import { zoneOf } from './operators.js';
import { ProcessClock } from './process-clock.js';

/** What a timer may miss its time by. */
const ROUNDING = 1e-3;

const ITEMS = Array.from({ length: 16 }, (_, item) => item);

export type ProcessOptions = Omit<CoordinatorOptions, 'instance'> & {
  readonly sessionTimeout: number;
  readonly weight: number;
};

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
  /** A process ended because it could not start. */
  startFailed(id: string): void;
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
  /** When the signal of each item fired last. */
  readonly #toldAt = new Map<number, number>();
  #saysItLeads = false;
  /** What its stream of assignments adds up to. */
  readonly #streamed = new Set<number>();

  constructor(
    private readonly world: World,
    /** Its name in the history: one id may have several lives. */
    readonly name: string,
    readonly id: string,
    readonly machine: VirtualClock,
    private readonly random: SeededRandom,
    private readonly options: ProcessOptions,
    private readonly temper: Temper,
  ) {
    this.clock = new ProcessClock(machine);
    const environment: Environment = { clock: this.clock, random, log: this.#log() };
    this.registry = world.cluster.registry({
      label: name,
      sessionTimeout: options.sessionTimeout,
      environment,
    });
    const { weight } = options;
    const instance = { id, ip: '10.0.0.1', pid: 1, weight, labels: { zone: zoneOf(id) } };
    this.coordinator = new Coordinator(
      this.registry,
      { ...options, instance },
      this.#hooks(),
      environment,
    );
    this.coordinator.assignment$.subscribe(({ added, removed }) => {
      for (const item of removed) this.#streamed.delete(item);
      for (const item of added) this.#streamed.add(item);
    });
  }

  get weight(): number {
    return this.options.weight;
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
    this.coordinator.start().catch((error: unknown) => {
      this.#note(`start failed: ${String(error)}`);
      if (this.#state !== 'running') return;
      this.#state = 'stopping';
      void this.#stop().then(() => this.world.startFailed(this.id));
    });
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
    this.#compareTokens();
    const { isLeader } = coordinator;
    if (isLeader) this.world.report({ kind: 'leads', who });
    else if (this.#saysItLeads) this.world.report({ kind: 'leads-no-more', who });
    this.#saysItLeads = isLeader;
  }

  /** At rest each way to ask what it holds gives the same answer. */
  compareAnswers(): void {
    const { items, assignment } = this.coordinator;
    const held = items.join(' ');
    const owned = this.#askable.filter((item) => this.coordinator.owns(item));
    const answers = {
      'assignment.items': assignment.items,
      'assignment$ in sum': [...this.#streamed].toSorted((a, b) => a - b),
      'assignment.tokens': [...assignment.tokens.keys()],
      ...(this.coordinator.total === this.#askable.length ? { 'owns()': owned } : {}),
    };
    for (const [name, answer] of Object.entries(answers)) {
      if (answer.join(' ') === held) continue;
      this.#contradict(`has the items ${held}, and ${answer.join(' ')} by ${name}`);
    }
  }

  /** Also of items that no hook has told of. */
  #compareTokens(): void {
    for (const item of this.#askable) {
      const token = this.coordinator.token(item);
      const owns = this.coordinator.owns(item);
      if (owns !== (token !== undefined)) {
        this.#contradict(`says ${owns} to owns(${item}), and ${token} to token(${item})`);
      }
      const given = this.#shards.get(item)?.token;
      if (token !== undefined && token !== given) {
        this.#contradict(`has item ${item} with token ${token}, and was given it with ${given}`);
      }
    }
  }

  /** Not so many that asking takes longer than all else. */
  get #askable(): readonly number[] {
    return ITEMS.slice(0, this.coordinator.total);
  }

  #contradict(text: string): void {
    this.world.report({ kind: 'contradiction', who: this.name, text });
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
    if (this.#state === 'stopping') this.world.report({ kind: 'left', who: this.name });
    await this.registry.close();
    if (this.#state === 'stopping') this.#state = 'gone';
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

  /** Through what guards the methods of an application, which may throw. */
  #hooks(): HookDispatcher {
    const who = this.name;
    const { world } = this;
    const hooks = new HookDispatcher(this.#log());
    const on = <K extends HookKind>(kind: K, run: HookListener<K>['run']): void =>
      hooks.add(kind, { label: `${who}@${kind}`, decorator: kind, run });
    on('leader', async ({ term, signal }) => {
      world.report({ kind: 'leader', who, term });
      world.askAll();
      await this.#until(signal);
      await this.#hook();
    });
    on('leaderLost', async () => {
      world.report({ kind: 'leader-lost', who });
      await this.#hook();
    });
    on('shardingStarted', async () => {
      world.report({ kind: 'started', who });
      await this.#hook();
    });
    on('shardingCompleted', async () => {
      world.report({ kind: 'completed', who });
      await this.#hook();
    });
    on('shardAcquired', async (shard) => {
      const { item, token, total } = shard;
      this.#shards.set(item, shard);
      world.report({ kind: 'acquired', who, item, token, total });
      world.askAll();
      await this.#work(shard);
    });
    on('shardReleased', async ({ item, token, reason }) => {
      const passed = this.clock.monotonic() - (this.#toldAt.get(item) ?? Infinity);
      const isLate = passed > this.options.drainTimeout - ROUNDING;
      world.report({ kind: 'released', who, item, token, reason, isLate });
      await this.#hook();
    });
    return hooks;
  }

  /** Writes now and then, without looking at the lease: the resource has to refuse what is stale. */
  async #work(shard: Shard): Promise<void> {
    const { item, token, signal } = shard;
    const who = this.name;
    const isShort = this.temper.throws();
    const takes = isShort ? 0 : this.temper.drain();
    const isInTime = takes < this.options.drainTimeout;
    signal.addEventListener('abort', () => {
      const isOwned = this.coordinator.owns(item);
      this.#toldAt.set(item, this.clock.monotonic());
      this.world.report({ kind: 'told', who, item, token, isOwned, isInTime });
    });
    let isEnded = false;
    const writeOn = (): void => {
      if (isEnded) return;
      this.world.write(this.name, item, token);
      this.clock.setTimer(writeOn, 200 + this.random.below(1_000));
    };
    if (!isShort) {
      writeOn();
      await this.#until(signal);
      await this.#wait(takes);
    }
    isEnded = true;
    this.world.report({ kind: 'ended', who, item, token });
    if (isShort || this.temper.throws()) throw new Error('as drawn');
  }

  async #hook(): Promise<void> {
    await this.#wait(this.temper.hook());
    if (this.temper.throws()) throw new Error('as drawn');
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
