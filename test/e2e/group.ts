import { expect } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import { check } from '../simulation/checker.js';
import { describeEvent, type History } from '../simulation/history.js';
import { report } from './fault-table.js';
import { type GroupConfig, type MemberConfig, now } from './fixtures/member.protocol.js';
import { type Member, MemberProcess } from './member.js';
import { passes } from './passes.js';
import { type Holding, longestGap, merge } from './recording.js';
import { assertSettled, staysSettled } from './settled.js';

/** The session timeout T of all members, unless a test says otherwise; D is half of it. */
export const T = 2_000;
const D = T / 2;
const MARGIN = 500;
const TICK = 200;
export const DRAIN_TIMEOUT = 1_000;

/** What a machine with two cores, shared with other tests, may take on top of what the protocol takes. */
const SLACK = 3_000;

/** Within these times everything is as it should be again. */
export const BOUND = {
  /** Nobody has to be waited for. */
  orderly: SLACK,
  /** A process has started and has to connect first. */
  join: 2_000 + SLACK,
  /** A session has to end and a lease to run out. */
  takeOver: T + D + MARGIN + 2 * TICK + SLACK,
  /** The same where the shards are also to be taken back, or somebody comes back. */
  comeBack: 2 * (T + D + MARGIN + 2 * TICK) + SLACK,
} as const;

/** What the group that a test begins with may take to form, and a process to start: not what it is about. */
export const FORMATION = 30_000;

/** For a whole test, with the time that it waits for its turn: not what it is about. */
export const TIMEOUT = 150_000;

/**
 * Leases of a second run out where the machine does not let a process run for so long, and each time
 * takes a recovery of its own: then the bound does not hold, but the group settles all the same.
 */
const STARVED = 3;

export interface GroupOptions {
  readonly connect: string;
  readonly label: string;
  readonly total: number | 'instances';
  /** For all members. */
  readonly config?: Partial<GroupConfig>;
}

/** What differs for one member, or for the process that it is alone in. */
export type StartOptions = Partial<GroupConfig & Omit<MemberConfig, 'apps'>>;

/** Counts the lives of all ids: one process may belong to several groups. */
let lives = 0;

/** The members of one group, and how it is judged. */
export class Group {
  readonly namespace: string;
  readonly members: Member[] = [];

  constructor(readonly options: GroupOptions) {
    this.namespace = uniqueNamespace(options.label);
  }

  /** What a member of this group is configured with. */
  configure(id: string, overrides: Partial<GroupConfig> = {}): GroupConfig {
    const { total } = this.options;
    lives += 1;
    return {
      who: `${id}.${lives}`,
      id,
      namespace: this.namespace,
      total,
      drainTimeout: DRAIN_TIMEOUT,
      ...(total === 'instances' ? { rebalanceDelay: 100 } : {}),
      ...this.options.config,
      ...overrides,
    };
  }

  /** Starts a process with one member of this group; from then on it joins in its own time. */
  async start(id: string, overrides: StartOptions = {}): Promise<Member> {
    const go = await this.prepare(id, overrides);
    return go();
  }

  /** The same with a process that waits for its call, since starting one takes its time. */
  async prepare(id: string, overrides: StartOptions = {}): Promise<() => Promise<Member>> {
    const { connect, sessionTimeout, connectTimeout, credentials, ...config } = overrides;
    const process = await MemberProcess.start({
      connect: connect ?? this.options.connect,
      sessionTimeout: sessionTimeout ?? T,
      ...(connectTimeout === undefined ? {} : { connectTimeout }),
      ...(credentials === undefined ? {} : { credentials }),
      apps: [[this.configure(id, config)]],
    });
    await process.loaded(FORMATION);
    return async () => (await this.adopt(process))[0]!;
  }

  /** Lets a process go, and takes those of its members that belong to this group once they say a word. */
  async adopt(process: MemberProcess): Promise<Member[]> {
    const own = process.members.filter(({ namespace }) => namespace === this.namespace);
    this.members.push(...own);
    process.go();
    await eventually(() => own.every(({ recording }) => recording.heard > 0), {
      timeout: FORMATION,
      label: 'a process started',
    });
    return own;
  }

  async startAll(...ids: string[]): Promise<Member[]> {
    return Promise.all(ids.map((id) => this.start(id)));
  }

  get running(): Member[] {
    return this.members.filter(({ isRunning, isFrozen }) => isRunning && !isFrozen);
  }

  get leader(): Member {
    const leaders = this.running.filter(({ leads }) => leads);
    if (leaders.length !== 1) throw new Error(`${leaders.length} lead`);
    return leaders[0]!;
  }

  /** Those that do not lead. */
  get followers(): Member[] {
    return this.running.filter(({ leads }) => !leads);
  }

  total(members: number = this.running.length): number {
    return this.options.total === 'instances' ? members : this.options.total;
  }

  /**
   * Waits until every running member is ready and has just said so, each item is owned by exactly one,
   * evenly, and one leads; and until it has been so for a while.
   * @returns the milliseconds until it became so
   */
  async settled(timeout: number, total?: number): Promise<number> {
    return staysSettled((since) => assertSettled(this.running, since, total ?? this.total()), {
      ...{ timeout, interval: 10, label: 'the group settled' },
    }).catch((error: Error) => {
      // What was done wrong says more than that it did not come right.
      this.#assertNothingWrong(this.history());
      throw new Error(`${error.message}\n${this.logs()}`, { cause: error });
    });
  }

  /** On a starved machine another one may have come to lead: stopped past its lease, it resigns. */
  async toLead(member: Member): Promise<void> {
    await this.settled(FORMATION);
    for (let attempt = 0; attempt < 2 * this.members.length && !member.leads; attempt += 1) {
      const { leader } = this;
      await leader.freeze();
      await passes(D + 200);
      leader.resume();
      await this.settled(FORMATION);
    }
    if (!member.leads) throw new Error(`${member.who} has not come to lead\n${this.logs()}`);
  }

  /**
   * Makes a fault happen to a settled group; it settles again within the bound and did nothing wrong.
   * What is not known before can be named afterwards, or left out of the table.
   */
  async suffers(
    scenario: string | (() => string | undefined),
    bound: number,
    /** It names those whose lease is meant to run out by it: nobody else's excuses that it took long. */
    fault: (lapsing: (...members: readonly Member[]) => void) => Promise<unknown>,
    /** Before and after it, where an operator changes the total. */
    totals?: readonly [number, number],
  ): Promise<void> {
    const before = totals?.[0] ?? this.total();
    await this.settled(FORMATION, before);
    const from = now();
    const meant = new Set<Member>();
    await fault((...members) => members.forEach((member) => meant.add(member)));
    const settled = await this.settled(bound * STARVED, totals?.[1]);
    this.judge();
    const after = totals?.[1] ?? this.total();
    const gap = longestGap(this.holdings, { from, to: now(), totals: [before, after] });
    const name = typeof scenario === 'string' ? scenario : scenario();
    if (name === undefined) return;
    const lapses = this.lapsesSince(from, meant);
    if (settled > bound && lapses === 0) {
      throw new Error(`${name}: settled after ${settled.toFixed(0)} ms, the bound is ${bound} ms`);
    }
    await report({ scenario: name, total: this.options.total, gap, settled, bound, lapses });
  }

  /** How many leases ran out since then, but for one of each of those for whom it was meant. */
  lapsesSince(from: number, meant: ReadonlySet<Member> = new Set()): number {
    const isLapse = ({ t, text }: { readonly t: number; readonly text: string }): boolean =>
      t >= from && text.startsWith('The lease ran out');
    return this.members
      .map((member) => member.logs.filter(isLapse).length - (meant.has(member) ? 1 : 0))
      .reduce((sum, lapses) => sum + Math.max(0, lapses), 0);
  }

  history(): History {
    return merge(this.members.map(({ recording, isRunning }) => recording.events(!isRunning)));
  }

  /** What everybody owned and when. */
  get holdings(): Holding[] {
    return this.members.flatMap(({ recording }) => recording.holdings);
  }

  /** By what everyone answered and the hooks told: nothing that must not happen has happened. */
  judge(): void {
    const history = this.history();
    expect(history.filter(({ kind }) => kind === 'owns')).not.toEqual([]);
    this.#assertNothingWrong(history);
  }

  #assertNothingWrong(history: History): void {
    const violations = check(history);
    if (violations.length === 0) return;
    const [first] = violations;
    const around = history.filter(
      ({ time, kind }) =>
        kind !== 'owns' && kind !== 'leads' && Math.abs(time - first!.time) < 3_000,
    );
    const trace = around.map(describeEvent).join('\n');
    throw new Error(
      `${violations.length} violations, first: ${first!.rule}: ${first!.text}\n${trace}\n${this.logs()}`,
    );
  }

  /** The last of everyone's log, for whoever has to find out why. */
  logs(): string {
    return this.members
      .flatMap(({ who, logs }) =>
        logs.map(({ t, level, text }) => ({ t, text: `${who} ${level} ${text}` })),
      )
      .toSorted((a, b) => a.t - b.t)
      .map(({ t, text }) => `${t.toFixed(1)} ${text}`)
      .slice(-80)
      .join('\n');
  }

  async close(): Promise<void> {
    for (const member of this.members) member.resume();
    await Promise.all(this.members.map((member) => member.kill()));
  }
}

/** How many groups one test file has at a time: their tests mostly wait, but their processes need cores. */
const AT_A_TIME = 2;
const waiting: (() => void)[] = [];
let free = AT_A_TIME;

/** Runs a test on a group of its own, in its turn, and ends all its processes, whatever happens. */
export async function withGroup(
  options: GroupOptions,
  test: (group: Group) => Promise<void>,
): Promise<void> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => void waiting.push(resolve));
  const group = new Group(options);
  try {
    await test(group);
  } finally {
    await group.close();
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}
