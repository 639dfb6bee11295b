import { ShardingAdmin } from '../../lib/admin/index.js';
import {
  decodeConfig,
  encodeConfig,
  type GroupConfig,
} from '../../lib/coordinator/group-config.js';
import { Observer } from '../../lib/coordinator/observer.js';
import type { Timer } from '../../lib/registry/environment.js';
import { MemoryCluster, type MemoryRegistry } from '../../lib/registry/memory/index.js';
import { ANY_VERSION } from '../../lib/registry/registry.js';
import { sequenceOf } from '../../lib/registry/sure-writes.js';
import { SeededRandom } from '../kit/seeded-random.js';
import { type VirtualClock, VirtualTime } from '../kit/virtual-clock.js';
import { check, type Violation } from './checker.js';
import { type Draw, drawCluster, temperOf, weightOf } from './draw.js';
import { type Calm, Exercises } from './exercises.js';
import { drawSchedule, type Fault } from './faults.js';
import { FreedItems } from './freed-items.js';
import type { Event, Happening } from './history.js';
import { drawSettings, PLAIN, type Settings } from './operators.js';
import { type Picture, problemIn } from './picture.js';
import { moody, MOODY } from './moody-strategy.js';
import { type ProcessOptions, SimulatedProcess, type World } from './simulated-process.js';

export interface SimulationResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly history: readonly Event[];
  readonly faults: readonly Fault[];
  /** Virtual milliseconds from the end of the faults until everything was settled. */
  readonly settledAfter: number;
  readonly moves: number;
}

const NAMESPACE = 'group';
const OPERATOR = 'operator';
const OBSERVER = 'observer';
const CONFIG = `/${NAMESPACE}/config`;

/** Runs one seed: the same seed gives the same history on every machine. */
export async function simulate(seed: number, faults?: readonly Fault[]): Promise<SimulationResult> {
  const simulation = new Simulation(seed, faults);
  return simulation.run();
}

class Simulation implements World, Calm {
  readonly cluster: MemoryCluster;
  readonly #time = new VirtualTime();
  readonly random: SeededRandom;
  readonly draw: Draw;
  readonly #schedule: readonly Fault[];
  readonly #processes: SimulatedProcess[] = [];
  readonly #history: Event[] = [];
  readonly #accepted = new Map<number, bigint>();
  readonly #machines = new Map<string, VirtualClock>();
  readonly #operator: MemoryRegistry;
  readonly admin: ShardingAdmin;
  readonly #observer: Observer | undefined;
  readonly #god: VirtualClock;
  /** As it was last committed. */
  #config: GroupConfig;
  #isOperatorDone = false;
  #lives = 0;
  #killLeaderIn = 0;
  #launches = 0;
  /** What happens to a process after so many more of its writes, by its name. */
  readonly #awaited = new Map<string, { left: number; happen: (to: SimulatedProcess) => void }>();
  isStuck = false;
  /** Who has been told that a rebalance started, and not yet that it completed. */
  readonly #rebalancing = new Set<string>();
  readonly #exercises = new Exercises(this);

  constructor(
    private readonly seed: number,
    faults: readonly Fault[] | undefined,
  ) {
    this.random = new SeededRandom(seed);
    this.draw = drawCluster(this.random);
    this.#config = { ...PLAIN, total: this.draw.total };
    const schedule = drawSchedule(this.random, this.draw);
    this.#schedule = faults ?? schedule;
    this.#god = this.#time.clock();
    const { servers, sessionTimeout, latency } = this.draw;
    const network = new SeededRandom(seed + 1);
    this.cluster = new MemoryCluster({
      clock: this.#god,
      random: network,
      servers,
      sessionTimeout,
      timed: true,
      latency: () => 0.1 + network.fraction() * latency,
    });
    const environment = {
      clock: this.#god,
      random: network,
      log: { debug() {}, log() {}, warn() {}, error() {} },
    };
    this.#operator = this.cluster.registry({ label: OPERATOR, environment });
    this.admin = new ShardingAdmin(this.#operator, NAMESPACE, environment, { [MOODY]: moody });
    if (this.draw.isObserved) {
      const registry = this.cluster.registry({ label: OBSERVER, environment });
      const instance = { id: OBSERVER, ip: '10.0.0.2', pid: 1, weight: 1, labels: {} };
      const startup = { wait: false, timeout: 60_000 };
      this.#observer = new Observer(
        registry,
        { namespace: NAMESPACE, instance, startup },
        environment,
      );
    }
    const freedItems = new FreedItems(NAMESPACE);
    this.cluster.commits$.subscribe((commit) => {
      const { by, change } = commit;
      const freed = freedItems.regard(commit);
      if (by === OBSERVER && 'path' in change) {
        this.report({ kind: 'contradiction', who: OBSERVER, text: `writes ${change.path}` });
      }
      // What somebody else writes into its registration is not its word.
      if (by !== undefined && by !== OPERATOR) {
        for (const item of freed) this.report({ kind: 'freed', who: by, ...item });
      }
      // What was committed counts, also where the operator never got an answer.
      if (change.kind === 'set' && change.path === CONFIG) {
        this.#config = decodeConfig(change.data);
      }
      this.#committed(by);
    });
  }

  async run(): Promise<SimulationResult> {
    void this.#operator.connect();
    void this.#observer?.start();
    this.#note(JSON.stringify(this.draw));
    for (let index = 0; index < this.draw.instances; index++) {
      const id = `i${index}`;
      this.#god.setTimer(() => this.launch(id), this.random.below(300));
    }
    for (const fault of this.#schedule) this.#god.setTimer(() => this.#apply(fault), fault.at);
    const end = Math.max(0, ...this.#schedule.map(({ at, duration = 0 }) => at + duration));
    await this.#time.advance(Math.max(end, 3_000) + 1);
    this.#healAll();
    const calm = this.#time.now;
    await this.#settle();
    const settledAfter = this.#time.now - calm;
    await this.#exercises.run(this.seed);
    return {
      seed: this.seed,
      violations: check(this.#history),
      history: this.#history,
      faults: this.#schedule,
      settledAfter,
      moves: this.#history.filter(({ kind }) => kind === 'acquired').length,
    };
  }

  // World

  report(happening: Happening): void {
    if (happening.kind === 'started') this.#rebalancing.add(happening.who);
    if (happening.kind === 'completed') {
      this.#rebalancing.delete(happening.who);
      this.#exercises.heard(happening.who);
    }
    this.#history.push({ time: this.#time.now, ...happening });
  }

  askAll(): void {
    for (const process of this.#processes) if (process.isAlive) process.testify();
  }

  write(who: string, item: number, token: bigint): void {
    const accepted = token >= (this.#accepted.get(item) ?? 0n);
    if (accepted) this.#accepted.set(item, token);
    this.report({ kind: 'write', who, item, token, accepted });
  }

  /** Whoever supervises processes starts another one. */
  startFailed(id: string): void {
    this.#launchLater(id, 500);
  }

  // What happens

  #launchLater(id: string, delay: number): void {
    this.#launches += 1;
    this.#god.setTimer(() => {
      this.#launches -= 1;
      this.launch(id);
    }, delay);
  }

  launch(id: string): SimulatedProcess {
    const { sessionTimeout, drainTimeout, rebalanceDelay, rejoin, lease, waitsAtStart } = this.draw;
    const name = `${id}.${++this.#lives}`;
    const random = new SeededRandom(this.seed * 1_000 + this.#lives);
    const options: ProcessOptions = {
      sessionTimeout,
      weight: weightOf(id, this.draw),
      namespace: NAMESPACE,
      total: this.draw.total,
      strategy: undefined,
      strategies: { [MOODY]: moody },
      onConfigMismatch: 'keep',
      lease,
      startup: { wait: waitsAtStart, timeout: 60_000 },
      drainTimeout,
      rebalanceDelay,
      rejoin,
      seedView: this.draw.total === 'instances',
    };
    const machine = this.#machineOf(id);
    const temper = temperOf(this.draw, random);
    const process = new SimulatedProcess(this, name, id, machine, random, options, temper);
    this.#processes.push(process);
    this.#note(`${name} starts`);
    process.start();
    return process;
  }

  /** A machine's clock runs up to 1 % fast or slow, and shows a time of day of its own. */
  #machineOf(id: string): VirtualClock {
    const known = this.#machines.get(id);
    if (known) return known;
    // Whoever makes a plan anew after a deletion needs a clock that is not behind: the guarantee says so.
    const isTrue = this.#has('-plan');
    const rate = isTrue ? 1 : 0.99 + this.random.fraction() * 0.02;
    const offset = isTrue ? 0 : this.random.below(5_000);
    const machine = this.#time.clock({ rate, wall: Date.UTC(2024, 0) + this.#time.now + offset });
    this.#machines.set(id, machine);
    return machine;
  }

  #has(kind: string): boolean {
    return this.#schedule.some((fault) => fault.kind.endsWith(kind));
  }

  #committed(by: string | undefined): void {
    if (by !== undefined) this.#countDown(by);
    const leader = this.#leader();
    if (this.#killLeaderIn === 0 || !leader || by !== leader.name) return;
    this.#killLeaderIn -= 1;
    if (this.#killLeaderIn > 0) return;
    this.#note(`${leader.name} is killed right after a write`);
    leader.kill();
    this.#launchLater(leader.id, 200 + this.random.below(3_000));
  }

  /** Lets something happen to a process at once after so many more of its writes. */
  #afterWrites(name: string, left: number, happen: (to: SimulatedProcess) => void): void {
    this.#awaited.set(name, { left, happen });
  }

  #countDown(by: string): void {
    const awaited = this.#awaited.get(by);
    if (!awaited) return;
    awaited.left -= 1;
    if (awaited.left > 0) return;
    this.#awaited.delete(by);
    const process = this.#processes.find(({ name }) => name === by);
    if (process?.isRunning) awaited.happen(process);
  }

  #leader(): SimulatedProcess | undefined {
    return this.#processes.find(({ isRunning, coordinator }) => isRunning && coordinator.isLeader);
  }

  #apply(fault: Fault): void {
    const running = this.#processes.filter(({ isRunning }) => isRunning);
    const victim = running[Math.floor(fault.choice * running.length)];
    const server = this.cluster.servers[Math.floor(fault.choice * this.cluster.servers.length)]!;
    const later = (undo: () => void): void => void this.#god.setTimer(undo, fault.duration ?? 0);
    this.#note(`fault ${fault.kind} ${victim?.name ?? ''} ${fault.duration ?? ''}`);
    switch (fault.kind) {
      case 'join':
        this.launch(`j${this.#lives}`);
        return;
      case 'join-losing-answer': {
        const { name } = this.launch(`j${this.#lives}`);
        this.#afterWrites(name, 1 + Math.floor(fault.choice * 6), ({ registry }) =>
          registry.link.loseNextAnswer(),
        );
        // Whoever looks for what it wrote on another server may look too early.
        for (const replica of this.cluster.servers) replica.lag(100);
        return later(() => {
          for (const replica of this.cluster.servers) replica.lag(0);
        });
      }
      case 'leave':
        return running.length > 1 ? victim?.stop() : undefined;
      case 'leave-and-return':
        victim?.stop();
        if (victim)
          this.#launchLater(victim.id, (fault.duration ?? 0) + this.draw.rejoin.window / 2);
        return;
      case 'kill':
        victim?.kill();
        if (victim) this.#launchLater(victim.id, fault.duration ?? 0);
        return;
      case 'kill-leader-at-write':
        this.#killLeaderIn = 1 + Math.floor(fault.choice * 6);
        return;
      case 'pause':
        victim?.pause();
        return later(() => victim?.resume());
      case 'sleep':
        victim?.pause({ isAsleep: true });
        return later(() => victim?.resume());
      case 'cut':
        victim?.registry.link.cut();
        return later(() => victim?.registry.link.heal());
      case 'freeze':
        victim?.registry.link.freeze(
          (['up', 'down', 'both'] as const)[Math.floor(fault.choice * 2.99)],
        );
        return later(() => {
          if (victim?.isRunning) victim.registry.link.thaw();
        });
      case 'delay':
        // Up to what a member has the patience for before it tries another server.
        victim?.registry.link.delay((fault.choice * this.draw.sessionTimeout) / 4);
        return later(() => victim?.registry.link.delay(0));
      case 'lose-answer':
        return victim?.registry.link.loseNextAnswer();
      case 'expire':
        return victim?.registry.link.expire();
      case 'expire-unheard':
        victim?.registry.link.freeze('both');
        victim?.registry.link.expire();
        // Where clocks step, one does at the worst moment.
        if (victim && this.#has('step-clocks')) this.#step(victim.machine, this.random.fraction());
        return later(() => {
          if (victim?.isRunning) victim.registry.link.thaw();
        });
      case 'forsake':
        return this.#forsake(victim, later);
      case 'stall-server':
        server.stall();
        return later(() => server.resume());
      case 'lag-server':
        server.lag(fault.choice * 800);
        return later(() => server.lag(0));
      case 'stop-server':
        server.stop();
        return later(() => server.start());
      case 'step-clock':
        return victim && this.#step(victim.machine, fault.choice);
      case 'step-clocks':
        for (const machine of this.#machines.values()) this.#step(machine, this.random.fraction());
        return;
      case 'drain':
        victim?.drain();
        return later(() => {
          if (victim?.isRunning) victim.undrain();
        });
      case 'total':
        return void this.#changeTotal(fault.choice);
      case 'total-mode':
        return void this.setTotal(
          this.#config.total === 'instances' ? 1 + Math.floor(fault.choice * 12) : 'instances',
        );
      case 'total-amid-expiry':
        victim?.registry.link.expire();
        return void this.#changeTotal(fault.choice);
      case 'configure':
        return void this.configure(drawSettings(fault.choice, this.#knownIds));
      case 'configure-amid-kill': {
        // Whoever leads dies while it does what the operator wants.
        const leader = this.#leader();
        if (leader) {
          this.#afterWrites(leader.name, 1 + Math.floor(fault.choice * 3), (to) => {
            to.kill();
            this.#launchLater(to.id, fault.duration ?? 0);
          });
        }
        return void this.configure(drawSettings(fault.choice, this.#knownIds));
      }
      case 'reshard':
        return victim?.reshard();
      case 'delete-plan':
        return void this.#operate((o) => o.delete(`/${NAMESPACE}/sharding`, ANY_VERSION));
      case 'garbage-plan':
        return void this.#operate((o) =>
          o.set(`/${NAMESPACE}/sharding`, Buffer.from('garbage'), ANY_VERSION),
        );
      case 'delete-instance':
        return void this.#operate((o) =>
          o.delete(`/${NAMESPACE}/instances/${victim?.id ?? 'x'}`, ANY_VERSION),
        );
      case 'garbage-instance':
        return void this.#operate((o) =>
          o.set(`/${NAMESPACE}/instances/${victim?.id ?? 'x'}`, Buffer.from('{'), ANY_VERSION),
        );
      case 'delete-lease':
        return void this.#operate((o) =>
          o.delete(`/${NAMESPACE}/leases/${victim?.id ?? 'x'}`, ANY_VERSION),
        );
      case 'delete-latch':
        return this.#deleteLatch((line) => line[Math.floor(fault.choice * line.length)]);
      case 'depose-and-delete-plan':
      case 'depose-deaf-leaders': {
        if (fault.kind === 'depose-and-delete-plan') {
          void this.#operate((o) => o.delete(`/${NAMESPACE}/sharding`, ANY_VERSION));
        }
        const link = this.#leader()?.registry.link;
        link?.delay((fault.choice * this.draw.sessionTimeout) / 4);
        this.#deleteLatch((line) => line[0]);
        // The next one has just taken office when it loses it again.
        this.#god.setTimer(() => this.#deleteLatch((line) => line[0]), 20 + fault.choice * 200);
        return later(() => link?.delay(0));
      }
    }
  }

  #step(machine: VirtualClock, choice: number): void {
    if (this.#has('-plan')) return;
    const step = (choice - 0.5) * 20_000;
    // Both clocks of a machine that sleeps must not lie: set back, it cannot know how long it slept.
    machine.stepWall(this.#has('sleep') ? Math.abs(step) : step);
    this.report({ kind: 'stepped' });
  }

  /**
   * The answer to its next write comes late, its registration is deleted right after that write, and
   * when it has the answer it is cut off: nothing is as old as what it believes then.
   */
  #forsake(victim: SimulatedProcess | undefined, later: (undo: () => void) => void): void {
    if (!victim) return;
    const { link } = victim.registry;
    const delay = this.draw.sessionTimeout * 0.23;
    let freezing: Timer | undefined;
    link.delay(delay);
    this.#afterWrites(victim.name, 1, ({ id }) => {
      void this.#operate((o) => o.delete(`/${NAMESPACE}/instances/${id}`, ANY_VERSION));
      freezing = this.#god.setTimer(() => link.freeze('both'), delay + this.draw.latency);
    });
    later(() => {
      this.#awaited.delete(victim.name);
      freezing?.cancel();
      link.delay(0);
      if (victim.isRunning) link.thaw();
    });
  }

  #deleteLatch(choose: (line: readonly string[]) => string | undefined): void {
    void this.#operate(async (operator) => {
      const latches = `/${NAMESPACE}/leader/election/latch`;
      const names = await operator.children(latches);
      const name = choose(names.toSorted((a, b) => sequenceOf(a) - sequenceOf(b)));
      if (name !== undefined) await operator.delete(`${latches}/${name}`, ANY_VERSION);
    });
  }

  async #changeTotal(choice: number): Promise<void> {
    if (this.#config.total === 'instances') return;
    const total = 1 + Math.floor(choice * 12);
    await this.setTotal(total);
  }

  async setTotal(total: GroupConfig['total']): Promise<void> {
    await this.#operate(async (operator) => {
      const { data, stat } = await operator.get(CONFIG);
      await operator.set(CONFIG, encodeConfig({ ...decodeConfig(data), total }), stat.version);
    });
  }

  get #knownIds(): readonly string[] {
    return [...new Set(this.#processes.map(({ id }) => id)), 'i0'];
  }

  async configure(settings: Settings): Promise<void> {
    await this.#operate((operator) => this.#setConfig(operator, settings));
  }

  async #setConfig(operator: MemoryRegistry, settings: Settings): Promise<void> {
    const { data, stat } = await operator.get(CONFIG);
    const { total } = decodeConfig(data);
    await operator.set(CONFIG, encodeConfig({ ...settings, total }), stat.version);
  }

  /** The operator leaves the group as it should be; what it tried before may still come in between. */
  async #concludeOperations(): Promise<void> {
    for (;;) {
      try {
        await this.#setConfig(this.#operator, this.draw.calmSettings);
        break;
      } catch (error) {
        this.#note(`operator: ${(error as Error).message}`);
        await new Promise<void>((resolve) => void this.#god.setTimer(resolve, 50));
      }
    }
    this.#isOperatorDone = true;
  }

  /** What an operator does by hand may fail: there may be nothing to do it to. */
  async #operate(work: (operator: MemoryRegistry) => Promise<unknown>): Promise<void> {
    try {
      await work(this.#operator);
    } catch (error) {
      this.#note(`operator: ${(error as Error).message}`);
    }
  }

  #healAll(): void {
    this.#note('the faults end');
    this.#killLeaderIn = 0;
    this.#awaited.clear();
    for (const server of this.cluster.servers) {
      server.lag(0);
      if (!server.isUp) server.start();
      server.resume();
    }
    for (const process of this.#processes) {
      if (!process.isAlive) continue;
      process.resume();
      process.registry.link.heal();
      process.registry.link.thaw();
      process.registry.link.delay(0);
      if (process.isDrained) process.undrain();
    }
    if (!this.#processes.some(({ isRunning }) => isRunning)) this.launch('last');
    void this.#concludeOperations();
  }

  /** How long anything may take in calm times. */
  get bound(): number {
    const { sessionTimeout, drainTimeout, rejoin } = this.draw;
    return 5 * (2 * sessionTimeout + 2 * drainTimeout + rejoin.window + 1_500) + 5_000;
  }

  /** After the faults everything comes right within a bound, and stays so. */
  async #settle(): Promise<void> {
    const deadline = this.#time.now + this.bound;
    try {
      // What looks right may have a late consequence of the faults still to come.
      do {
        const left = deadline - this.#time.now;
        await this.#time.runUntil(() => this.problem() === undefined, left);
        this.askAll();
        await this.#time.advance(this.draw.sessionTimeout * 2);
      } while (this.problem() !== undefined);
    } catch {
      this.getStuck(`after ${this.bound} ms: ${this.problem()}`);
    }
  }

  runUntil(isSo: () => boolean): Promise<void> {
    return this.#time.runUntil(isSo, this.bound);
  }

  getStuck(text: string): void {
    this.isStuck = true;
    this.report({ kind: 'stuck', text });
  }

  get #alive(): SimulatedProcess[] {
    return this.#processes.filter(({ isAlive }) => isAlive);
  }

  get picture(): Picture {
    return {
      alive: this.#alive,
      config: this.#config,
      observer: this.#observer,
      rebalancing: this.#rebalancing,
    };
  }

  /** What is not as it should be in quiet times. */
  problem(): string | undefined {
    if (this.#launches > 0) return 'a process is still to come back';
    if (!this.#isOperatorDone) return 'the operator is not done';
    const leaving = this.#processes.find(({ isAlive, isRunning }) => isAlive && !isRunning);
    if (leaving) return `${leaving.name} is still leaving`;
    return problemIn(this.picture);
  }

  #note(text: string): void {
    this.report({ kind: 'note', text });
  }
}
