import { join } from 'node:path';
import { type Behaviours, now } from '../e2e/fixtures/member.protocol.js';
import { type Member, MemberProcess } from '../e2e/member.js';
import type { Holding } from '../e2e/recording.js';
import { assertSettled, staysSettled } from '../e2e/settled.js';
import { Cleanup } from '../kit/cleanup.js';
import type { SeededRandom } from '../kit/seeded-random.js';
import { TcpProxy } from '../kit/tcp-proxy.js';
import type { Event } from '../simulation/history.js';
import { keepLines } from './keep-lines.js';

const SESSION_TIMEOUTS = [2_000, 3_000, 4_000];
/** Nothing to end, hardly anything, and a worker that takes its time. */
const DRAINS: readonly Behaviours[] = [
  {},
  { acquired: { delay: 5 } },
  { acquired: { delay: 60 }, released: { delay: 20 } },
];
const DRAIN_TIMEOUT = 2_000;
/** What a process may take to load on a busy machine. */
const LOADING = 60_000;
/** Whoever leaves has drained by then, found a server or given up. */
const LEAVING = 60_000;

const isLapse = ({ text }: { readonly text: string }): boolean =>
  text.startsWith('The lease ran out');

/** A place for one app at a time, with ways of its own to all servers. */
export class Slot {
  app: Member | undefined;
  sessionTimeout = 0;
  /** Some fault has it at the moment. */
  isTaken = false;

  constructor(
    readonly name: string,
    readonly ways: readonly TcpProxy[],
  ) {}

  get connect(): string {
    return this.ways.map(({ connect }) => connect).join(',');
  }

  get isRunning(): boolean {
    return this.app?.isRunning === true && !this.app.isFrozen;
  }
}

export interface CrowdOptions {
  /** The client ports of the servers. */
  readonly ports: readonly number[];
  readonly size: number;
  readonly namespace: string;
  readonly total: number;
  readonly store: string;
  /** Where everything that the apps say is kept. */
  readonly folder: string;
}

/** The apps of one group, those before them, and what all of them said. */
export class Crowd {
  /** Ends that nobody asked for, and whatever else an app should never do. */
  readonly problems: Event[] = [];
  readonly #lives: Member[] = [];
  readonly #dismissed = new WeakSet<Member>();

  private constructor(
    private readonly options: CrowdOptions,
    readonly slots: readonly Slot[],
  ) {}

  static async gather(options: CrowdOptions): Promise<Crowd> {
    return Cleanup.unlessOpened(async (cleanup) => {
      const slots: Slot[] = [];
      for (let index = 0; index < options.size; index += 1) {
        const ways: TcpProxy[] = [];
        for (const target of options.ports) {
          ways.push(cleanup.add(await TcpProxy.start({ target })));
        }
        // Each begins with another server, so that all of them have clients.
        const first = index % ways.length;
        const inTurn = [...ways.slice(first), ...ways.slice(0, first)];
        slots.push(new Slot(String.fromCodePoint(97 + index), inTurn));
      }
      return new Crowd(options, slots);
    });
  }

  get running(): Slot[] {
    return this.slots.filter(({ isRunning }) => isRunning);
  }

  /** Those whom no fault has at the moment. */
  get free(): Slot[] {
    return this.running.filter(({ isTaken }) => !isTaken);
  }

  /** Starts an app. */
  async start(slot: Slot, random: SeededRandom): Promise<void> {
    const go = await this.prepare(slot, random);
    go();
  }

  /** The same with a process that waits for its call, since starting one takes its time. */
  async prepare(slot: Slot, random: SeededRandom): Promise<() => void> {
    const life = this.#lives.length + 1;
    const who = `${slot.name}.${life}`;
    const sessionTimeout = random.pick(SESSION_TIMEOUTS);
    const { namespace, total, store } = this.options;
    const hooks = random.pick(DRAINS);
    // Some have the id of the one before them, as in a StatefulSet, and others one of their own.
    const id = random.pick([slot.name, who]);
    const drainTimeout = DRAIN_TIMEOUT;
    const group = { who, id, namespace, total, store, drainTimeout, hooks };
    const config = { connect: slot.connect, sessionTimeout, apps: [[group]] };
    const process = await MemberProcess.start(config);
    keepLines(process, join(this.options.folder, `${who}.log`));
    const [member] = process.members;
    this.#lives.push(member!);
    void process.exited.then(() => this.#onEnd(member!));
    await process.loaded(LOADING);
    return () => {
      slot.app = member;
      slot.sessionTimeout = sessionTimeout;
      process.go();
    };
  }

  /** SIGKILL. */
  async kill(slot: Slot): Promise<void> {
    const { app } = slot;
    slot.app = undefined;
    if (!app) return;
    this.#dismissed.add(app);
    await app.kill();
  }

  /** SIGTERM, and a life that ends in good order. */
  async leave(slot: Slot): Promise<void> {
    const { app } = slot;
    slot.app = undefined;
    if (!app) return;
    this.#dismissed.add(app);
    const hurry = setTimeout(() => {
      this.#report(`${app.who} has not left after ${LEAVING} ms`);
      void app.kill();
    }, LEAVING);
    await app.leave();
    clearTimeout(hurry);
  }

  /** Waits until everybody is ready and everything is owned as it should be, and stays so for a while. */
  async settled(total: number, timeout: number): Promise<void> {
    const members = (): Member[] => this.running.map(({ app }) => app!);
    await staysSettled((since) => assertSettled(members(), since, total), {
      ...{ timeout, label: 'the group settled' },
    });
  }

  /** What all of them have said, not yet in order. */
  events(): Event[] {
    return [
      ...this.#lives.flatMap(({ recording, isRunning }) => recording.events(!isRunning)),
      ...this.problems,
    ];
  }

  /** What all of them owned and when. */
  get holdings(): Holding[] {
    return this.#lives.flatMap(({ recording }) => recording.holdings);
  }

  /** How often a lease ran out, by what they logged. */
  get lapses(): number {
    return this.#lives.reduce((sum, { logs }) => sum + logs.filter(isLapse).length, 0);
  }

  /** Those who only ever let go of a shard when asked to and in time: none of their writes comes too late. */
  get orderly(): Set<string> {
    const orderly = this.#lives.filter(
      ({ process, reasons, logs }) =>
        !process.wasFrozen &&
        !reasons.some((reason) => reason === 'lease-lost' || reason === 'evicted') &&
        !logs.some((line) => isLapse(line) || line.text.includes('did not end within')),
    );
    return new Set(orderly.map(({ who }) => who));
  }

  forgetLines(): void {
    for (const { process } of this.#lives) process.forgetLines();
  }

  async close(): Promise<void> {
    for (const member of this.#lives) this.#dismissed.add(member);
    await Promise.all(this.#lives.map((member) => member.kill()));
    await Promise.all(this.slots.flatMap(({ ways }) => ways).map((way) => way.close()));
  }

  async #onEnd(member: Member): Promise<void> {
    if (this.#dismissed.has(member)) return;
    const { code, signal } = await member.process.exited;
    const why = [...member.process.errors, ...member.logs.map(({ text }) => text)].at(-1) ?? '';
    this.#report(`${member.who} ended by itself (${signal ?? code}) ${why}`);
  }

  #report(text: string): void {
    this.problems.push({ kind: 'stuck', time: now(), text });
  }
}
