import type { PlanQuestion, Prediction, ShardingAdmin } from '../../lib/admin/index.js';
import { type GroupConfig, moveLimit } from '../../lib/coordinator/group-config.js';
import type { SeededRandom } from '../kit/seeded-random.js';
import { type Draw, weightOf } from './draw.js';
import { MOODY } from './moody-strategy.js';
import { isPlain, type Settings, withInstance, zoneOf } from './operators.js';
import { type Group, holdersIn, ownersIn } from './picture.js';
import type { SimulatedProcess, World } from './simulated-process.js';

/** A group in calm times, and what can be done with it. */
export interface Calm extends Pick<World, 'report' | 'askAll'> {
  readonly draw: Draw;
  readonly random: SeededRandom;
  readonly admin: ShardingAdmin;
  readonly picture: Group;
  readonly isStuck: boolean;
  /** How long anything may take. */
  readonly bound: number;
  launch(id: string): SimulatedProcess;
  configure(settings: Settings): Promise<void>;
  setTotal(total: GroupConfig['total']): Promise<void>;
  /** What is not as it should be at rest. */
  problem(): string | undefined;
  /** Lets time pass; rejects when the bound is over. */
  runUntil(isSo: () => boolean): Promise<void>;
  getStuck(text: string): void;
}

/** Something that is asked of a group in calm times. */
interface Drill {
  readonly name: string;
  /** What the administrator is asked to foretell; left out: nothing. */
  readonly question?: PlanQuestion;
  readonly begin: () => unknown;
  /** Whether the group can know of it. @default at once */
  readonly isBegun?: () => boolean;
  /** Who is not there any more in the end. */
  readonly without?: SimulatedProcess;
  /** How many items have to move, where that is known from elsewhere than from what was foretold. */
  readonly moves?: number;
  readonly atOnce?: number;
  /** Nothing need happen, so that nobody need hear of it, unless it was foretold that something stops or moves. */
  readonly mayBeQuiet?: boolean;
}

const namesOf = (processes: readonly SimulatedProcess[]): string[] =>
  processes.map(({ name }) => name);

/** Who will hold what, by what was foretold. */
function foretold(before: readonly string[], { total, moved, unplaced }: Prediction): string[] {
  const isOther = before.length !== total;
  const owners = Array.from({ length: total }, (_, item) => (isOther ? '-' : before[item]!));
  for (const { item, to } of moved) owners[item] = to;
  for (const item of unplaced) owners[item] = '-';
  return owners;
}

/** What is asked of a group in calm times, where it is known what has to come of it. */
export class Exercises {
  /** Who has not heard of the present one yet. */
  #unheard = new Set<string>();

  constructor(private readonly calm: Calm) {}

  /** Two, and for most seeds one more: otherwise all the time would go into drills. */
  async run(seed: number): Promise<void> {
    if (!this.calm.isStuck) await this.#exerciseJoin();
    if (!this.calm.isStuck) await this.#exerciseReshard();
    const more = [
      () => this.#exerciseLeave(),
      () => this.#exerciseTotal(),
      () => this.#exercisePause(),
      () => this.#exerciseWeight(),
      () => this.#exerciseDrain(),
    ];
    if (!this.calm.isStuck) await more[seed % 7]?.();
  }

  heard(who: string): void {
    this.#unheard.delete(who);
  }

  /** One more in calm times takes its share, and nothing but that moves. */
  async #exerciseJoin(): Promise<void> {
    // The order of the ids must not matter.
    const id = this.calm.random.pick(['a', 'z']);
    const { total } = this.#config;
    const count = this.#alive.length + 1;
    // A total that follows the instances changes with them, so that all begins anew.
    const moves = total === 'instances' ? count : Math.floor(total / count);
    const atOnce = total === 'instances' ? Infinity : moveLimit(this.#config, total);
    await this.#exercise({
      name: 'a join',
      question: {
        join: [{ id, weight: weightOf(id, this.calm.draw), labels: { zone: zoneOf(id) } }],
      },
      begin: () => this.calm.launch(id),
      ...(this.#isEven ? { moves } : {}),
      atOnce,
    });
  }

  /** Who asks for a reshard where all is well gets one, in which nothing moves. */
  async #exerciseReshard(): Promise<void> {
    await this.#exercise({
      name: 'a reshard',
      question: {},
      begin: () => this.#alive.find(({ isRunning }) => isRunning)?.reshard(),
      moves: 0,
    });
  }

  /** Who leaves in good order hands over what it has, and nothing but that moves. */
  async #exerciseLeave(): Promise<void> {
    const { total } = this.#config;
    const leaver = this.calm.random.pick(this.#alive.filter(({ isRunning }) => isRunning));
    if (this.#alive.length < 2) return;
    const moves = total === 'instances' ? this.#alive.length - 1 : leaver.coordinator.items.length;
    await this.#exercise({
      name: 'a leave',
      question: { leave: [leaver.id] },
      begin: () => leaver.stop(),
      without: leaver,
      ...(this.#isEven ? { moves } : {}),
    });
  }

  async #exerciseTotal(): Promise<void> {
    const more = 1 + this.calm.random.below(5);
    const follows = this.calm.random.below(3) === 0;
    const now = this.#config.total;
    const total = now === 'instances' ? more : follows ? ('instances' as const) : now + more;
    await this.#exercise({
      name: 'another total',
      question: { total },
      begin: () => void this.calm.setTotal(total),
      isBegun: () => this.#config.total === total,
      // There may be just as many instances.
      mayBeQuiet: true,
    });
  }

  /** Who joins a paused group gets nothing; when it goes on, the rest is planned at once. */
  async #exercisePause(): Promise<void> {
    const { total, ...settings } = this.#config;
    if (total === 'instances') return;
    await this.#obey(this.calm.configure({ ...settings, paused: true }));
    await this.#exercise({
      name: 'a join while paused',
      begin: () => this.calm.launch('p'),
      moves: 0,
    });
    if (this.calm.isStuck) return;
    const moves = Math.floor(total / this.#alive.length);
    const isKnown =
      this.calm.draw.weights.length === 1 && isPlain({ total, ...settings, paused: false });
    await this.#exercise({
      name: 'the end of a pause',
      begin: () => void this.calm.configure(settings),
      ...(isKnown ? { moves } : {}),
      mayBeQuiet: moves === 0 || !isKnown,
    });
  }

  /** The operator gives an instance another weight, and takes that back. */
  async #exerciseWeight(): Promise<void> {
    const { id } = this.#pickUnmentioned() ?? {};
    if (id === undefined) return;
    const { total: _, ...settings } = this.#config;
    const weight = this.calm.random.pick([0, 2, 3]);
    await this.#exercise({
      name: 'another weight',
      question: { weights: { [id]: weight } },
      begin: () => void this.calm.configure(withInstance(settings, id, { weight })),
      mayBeQuiet: true,
    });
    if (this.calm.isStuck) return;
    await this.#exercise({
      name: 'the old weight',
      question: { weights: { [id]: weightOf(id, this.calm.draw) } },
      begin: () => void this.calm.configure(settings),
      mayBeQuiet: true,
    });
  }

  /** The operator drains an instance, and lets it take its share again: of that nobody can ask. */
  async #exerciseDrain(): Promise<void> {
    const { id } = this.#pickUnmentioned() ?? {};
    if (id === undefined) return;
    const { total, ...settings } = this.#config;
    const isKnown = this.#isEven;
    await this.#exercise({
      name: 'a drain',
      question: { drain: [id] },
      begin: () => void this.calm.configure(withInstance(settings, id, { drained: true })),
      mayBeQuiet: true,
    });
    if (this.calm.isStuck) return;
    const count = this.#alive.length;
    const moves = total === 'instances' ? count : Math.floor(total / count);
    await this.#exercise({
      name: 'the end of a drain',
      begin: () => void this.calm.configure(settings),
      ...(isKnown ? { moves } : {}),
      mayBeQuiet: moves === 0 || !isKnown,
    });
  }

  /** One of several of which the configuration says nothing. */
  #pickUnmentioned(): SimulatedProcess | undefined {
    const unmentioned = this.#alive.filter(({ id }) => !this.#config.instances[id]);
    return unmentioned.length > 1 ? this.calm.random.pick(unmentioned) : undefined;
  }

  /** While the group waits for who left, the others even out what they have, unless it stays even. */
  #moveMeanwhile(question: PlanQuestion | undefined): boolean {
    const { rejoin, weights } = this.calm.draw;
    const isWaitedFor = question?.leave !== undefined && rejoin.window > 0;
    const staysEven = isPlain(this.#config) && weights.every((weight) => weight === 1);
    return isWaitedFor && !staysEven;
  }

  async #exercise(drill: Drill): Promise<void> {
    const { name, question, begin, without, moves, atOnce, mayBeQuiet = false } = drill;
    const { isBegun = () => true } = drill;
    // What a strategy with moods does in each step on the way nobody can foretell.
    const isForeseeable = this.#config.strategy !== MOODY && !this.#moveMeanwhile(question);
    const prediction =
      isForeseeable && question ? await this.#obey(this.calm.admin.plan(question)) : undefined;
    if (this.calm.isStuck) return;
    const before = ownersIn(this.calm.picture);
    begin();
    const alive = this.#alive.filter((process) => process !== without);
    const isQuiet = mayBeQuiet && !prediction?.moves && !prediction?.stopped;
    const everyone = isQuiet ? [] : namesOf(alive);
    const isCordoned = ({ id }: SimulatedProcess): boolean =>
      this.#config.instances[id]?.cordoned === true;
    this.calm.report({
      kind: 'exercise',
      name,
      everyone,
      moves: moves ?? prediction?.moves,
      ...(prediction ? { foretold: foretold(before, prediction) } : {}),
      ...(atOnce === undefined ? {} : { atOnce }),
      // A barrier takes everything from everybody, and gives it out anew.
      idle:
        this.#config.total === 'instances' || question?.total
          ? []
          : namesOf(alive.filter(isCordoned)),
    });
    this.#unheard = new Set(everyone);
    try {
      await this.calm.runUntil(
        () =>
          isBegun() &&
          this.#unheard.size === 0 &&
          !without?.isAlive &&
          this.calm.problem() === undefined,
      );
    } catch {
      const problem = this.calm.problem();
      if (problem !== undefined) return this.calm.getStuck(`after ${name}: ${problem}`);
    }
    this.calm.askAll();
    for (const process of this.#alive) process.compareAnswers();
    this.calm.report({
      kind: 'exercised',
      owners: ownersIn(this.calm.picture),
      holders: holdersIn(this.calm.picture).map((holder) => holder?.name ?? '-'),
    });
  }

  /** Lets time pass until an operator has the answer. */
  async #obey<T>(answer: Promise<T>): Promise<T | undefined> {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    answer.then(
      (value) => (outcome = { value }),
      (error: unknown) => (outcome = { error }),
    );
    try {
      await this.calm.runUntil(() => outcome !== undefined);
    } catch {
      this.calm.getStuck('an operator gets no answer');
    }
    if (outcome && 'value' in outcome) return outcome.value;
    this.calm.getStuck(`an operator is refused: ${String(outcome?.error)}`);
    return undefined;
  }

  /** Everybody's share is the same. */
  get #isEven(): boolean {
    return isPlain(this.#config) && this.calm.draw.weights.length === 1;
  }

  get #config(): GroupConfig {
    return this.calm.picture.config;
  }

  get #alive(): readonly SimulatedProcess[] {
    return this.calm.picture.alive;
  }
}
