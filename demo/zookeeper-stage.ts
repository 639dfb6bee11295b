import { ShardingAdmin, type ShardingModuleRootOptions } from '../lib/index.js';
import { eventually } from '../test/kit/eventually.js';
import { uniqueNamespace } from '../test/kit/namespace.js';
import { type NodeProcess, spawnNode } from '../test/kit/processes.js';
import { givenEnsemble, locateZooKeeper } from '../test/kit/zookeeper-installation.js';
import { ZooKeeperServer } from '../test/kit/zookeeper-server.js';
import { now } from './clock.js';
import { TOTAL } from './demo-app.js';
import type { Line } from './instance.js';
import type { CallSheet, Stage, Timing } from './stage.js';

/** How long whoever leaves may take before it is made to. */
const PATIENCE = 20_000;

/** A process for each instance, on a private ZooKeeper or on the one that ZOOKEEPER_CONNECT names. */
export class ZooKeeperStage implements Stage {
  readonly timing: Timing = {
    session: 3_000,
    lease: 1_500,
    margin: 500,
    beyond: ', and a tick',
  };
  readonly words = {
    crash: 'crashes: kill -9',
    freeze: 'freezes: SIGSTOP',
    thaw: 'wakes up: SIGCONT',
  };
  readonly #namespace = uniqueNamespace('demo');
  readonly #actors = new Map<string, NodeProcess>();
  /** Those whose end was asked for. */
  readonly #ending = new Set<NodeProcess>();

  private constructor(
    private readonly sheet: CallSheet,
    readonly setting: string,
    private readonly connect: string,
    private readonly server: ZooKeeperServer | undefined,
  ) {}

  static async open(sheet: CallSheet): Promise<ZooKeeperStage> {
    const given = givenEnsemble();
    if (given !== undefined) {
      const setting = `processes on ZooKeeper ${given}`;
      return new ZooKeeperStage(sheet, setting, given, undefined);
    }
    const installation = await locateZooKeeper();
    const server = await ZooKeeperServer.start({ installation });
    const setting = `processes on a private ZooKeeper ${installation.version}`;
    return new ZooKeeperStage(sheet, setting, server.connect, server);
  }

  get cast() {
    return this.sheet.cast;
  }

  async join(name: string): Promise<void> {
    this.sheet.enter(name);
    const { session, lease, margin } = this.timing;
    const options: ShardingModuleRootOptions = {
      registry: { type: 'zookeeper', connect: this.connect, sessionTimeout: session },
      namespace: this.#namespace,
      total: TOTAL,
      instance: { id: name },
      lease: { duration: lease, margin },
    };
    const actor = await spawnNode(new URL('./instance.js', import.meta.url), [
      JSON.stringify(options),
    ]);
    this.#actors.set(name, actor);
    actor.onLine((text) => this.#heard(name, actor, text));
    void this.#watch(name, actor);
  }

  async leave(name: string): Promise<void> {
    const actor = this.#actors.get(name)!;
    this.#ending.add(actor);
    const hurry = setTimeout(() => void actor.end('SIGKILL'), PATIENCE);
    await actor.end('SIGTERM');
    clearTimeout(hurry);
    // Its last words may reach us after its end.
    await actor.message((line: Line) => 'isLast' in line).catch(() => {});
    this.#exit(name, 'left');
  }

  async crash(name: string): Promise<void> {
    const actor = this.#actors.get(name)!;
    this.#ending.add(actor);
    await actor.end('SIGKILL');
    this.#exit(name, 'killed');
  }

  async freeze(name: string): Promise<void> {
    await this.#actors.get(name)!.freeze();
    this.sheet.froze(name, now());
  }

  async thaw(name: string): Promise<void> {
    this.sheet.wakes(name, now());
    this.#actors.get(name)!.resume();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#actors.keys()].map((name) => this.leave(name)));
    if (this.server) await this.server.close();
    else await this.#cleanUp();
  }

  /** The ensemble is somebody's, who wants nothing of ours to stay there. */
  async #cleanUp(): Promise<void> {
    const where = { connect: this.connect, namespace: this.#namespace };
    try {
      const admin = await ShardingAdmin.connect(where);
      try {
        // Whoever crashed just now lives on in the store until its session has timed out.
        await eventually(() => admin.remove(), { timeout: PATIENCE });
      } finally {
        await admin.close();
      }
    } catch (error) {
      this.sheet.tell(
        `/${where.namespace} is left on ${where.connect}: ${(error as Error).message}`,
      );
    }
  }

  /** Who ends unasked is mentioned; that it did not settle says the rest. */
  async #watch(name: string, actor: NodeProcess): Promise<void> {
    const { code, signal } = await actor.exited;
    if (this.#ending.has(actor)) return;
    this.#exit(name, 'ended');
    const reason = actor.errors.at(-1) ?? '';
    this.sheet.tell(`${name} ended unexpectedly (${signal ?? code}) ${reason}`);
  }

  #heard(name: string, actor: NodeProcess, text: string): void {
    if (this.#actors.get(name) !== actor) return;
    const line = JSON.parse(text) as Line;
    if ('warning' in line) this.sheet.tell(`${name}: ${line.warning}`);
    else this.sheet.heard(name, line);
  }

  #exit(name: string, state: string): void {
    this.#actors.delete(name);
    this.sheet.exit(name, state, now());
  }
}
