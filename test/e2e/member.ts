import { eventually } from '../kit/eventually.js';
import type { ExitStatus } from '../kit/guarded-process.js';
import { type NodeProcess, spawnNode } from '../kit/processes.js';
import type { Command, GroupConfig, Line, MemberConfig } from './fixtures/member.protocol.js';
import { Recording } from './recording.js';

const FIXTURE = new URL('./fixtures/member.ts', import.meta.url);

type Fatal = Extract<Line, { k: 'fatal' }>;
type Log = Extract<Line, { k: 'log' }>;
type CommandOf<C> = C extends Command ? Omit<C, 'who'> : never;

/** A process with one member or several, seen from the test that started it. */
export class MemberProcess {
  readonly members: readonly Member[];
  readonly logs: Log[] = [];
  isFrozen = false;
  /** At any time of its life. */
  wasFrozen = false;
  #fatal: Fatal | undefined;

  private constructor(
    private readonly process: NodeProcess,
    config: MemberConfig,
  ) {
    this.members = config.apps.flat().map((group) => new Member(this, group));
    process.onLine((text) => this.#read(text));
    for (const text of process.lines) this.#read(text);
  }

  static async start(config: MemberConfig): Promise<MemberProcess> {
    return new MemberProcess(await spawnNode(FIXTURE, [JSON.stringify(config)]), config);
  }

  get pid(): number {
    return this.process.pid;
  }

  get isRunning(): boolean {
    return this.process.running;
  }

  get exited(): Promise<ExitStatus> {
    return this.process.exited;
  }

  /** Waits until it says that it cannot start, and why. */
  async failed(timeout: number): Promise<Fatal> {
    return eventually(() => this.#fatal ?? false, { timeout, label: 'the process gives up' });
  }

  /** Waits until its applications have started. */
  async up(timeout: number): Promise<void> {
    await this.process.message<Line>(({ k }) => k === 'up', { timeout });
  }

  /** Waits until all is loaded that its applications need. */
  async loaded(timeout: number): Promise<void> {
    await this.process.message<Line>(({ k }) => k === 'loaded', { timeout });
  }

  /** Starts its applications. */
  go(): void {
    this.send({ do: 'go' });
  }

  send(command: object): void {
    this.process.send(JSON.stringify(command));
  }

  /** SIGSTOP. */
  async freeze(): Promise<void> {
    this.isFrozen = true;
    this.wasFrozen = true;
    await this.process.freeze();
  }

  /** SIGCONT. */
  resume(): void {
    this.process.resume();
    this.isFrozen = false;
  }

  /** Hears every line, parsed or not. */
  onLine(listener: (text: string) => void): void {
    this.process.onLine(listener);
  }

  /** Gives back the memory of lines that were read, in a test that runs for an hour. */
  forgetLines(): void {
    this.process.lines.length = 0;
  }

  /** What it wrote to stderr. */
  get errors(): readonly string[] {
    return this.process.errors;
  }

  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<ExitStatus> {
    return this.process.end(signal);
  }

  /** A line that is cut short was a killed process's last. */
  #read(text: string): void {
    try {
      this.#learn(JSON.parse(text) as Line);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }

  #learn(line: Line): void {
    if (line.k === 'log') this.logs.push(line);
    else if (line.k === 'fatal') this.#fatal = line;
    else for (const { recording } of this.members) recording.learn(line);
  }
}

/** One member of a group: one registration in one application of a process. */
export class Member {
  readonly namespace: string;
  readonly id: string | undefined;
  readonly recording: Recording;

  constructor(
    readonly process: MemberProcess,
    { who, id, namespace }: GroupConfig,
  ) {
    this.recording = new Recording(who);
    this.id = id;
    this.namespace = namespace;
  }

  /** Its name in the history: an id may have several lives. */
  get who(): string {
    return this.recording.who;
  }

  get pid(): number {
    return this.process.pid;
  }

  get isRunning(): boolean {
    return this.process.isRunning;
  }

  get isFrozen(): boolean {
    return this.process.isFrozen;
  }

  get items(): readonly number[] {
    return this.recording.items;
  }

  get leads(): boolean {
    return this.recording.leads;
  }

  /** Where it is registered. */
  get path(): string {
    return `/${this.namespace}/instances/${this.id}`;
  }

  /** Why it let go of shards, in order. */
  get reasons(): readonly (string | undefined)[] {
    const { hooks } = this.recording;
    return hooks.filter(({ hook }) => hook === 'released').map(({ reason }) => reason);
  }

  get logs(): readonly Log[] {
    return this.process.logs;
  }

  hasLogged(text: string): boolean {
    return this.logs.some((line) => line.text.includes(text));
  }

  send(command: CommandOf<Command>): void {
    this.process.send({ who: this.who, ...command });
  }

  /** SIGSTOP. */
  freeze(): Promise<void> {
    return this.process.freeze();
  }

  /** SIGCONT. */
  resume(): void {
    this.process.resume();
  }

  /** SIGKILL. */
  kill(): Promise<ExitStatus> {
    return this.process.end('SIGKILL');
  }

  /** SIGTERM, and the end of a process that leaves in good order. */
  leave(): Promise<ExitStatus> {
    return this.process.end('SIGTERM');
  }
}
