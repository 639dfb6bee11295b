import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cleanup } from '../kit/cleanup.js';
import { uniqueNamespace } from '../kit/namespace.js';
import { type NodeProcess, spawnNode } from '../kit/processes.js';
import { temporaryFolder } from '../kit/reaper.js';
import type { SeededRandom } from '../kit/seeded-random.js';
import { ZooKeeperEnsemble } from '../kit/zookeeper-ensemble.js';
import { Crowd } from './crowd.js';
import { FencedStore } from './fenced-store.js';
import { SlowDisk } from './slow-disk.js';

const SLOTS = 8;
const AT_FIRST = 6;
const FORMATION = 60_000;
/** What the operator may take while servers fail. */
const PATIENCE = 60_000;

/** What the operator is told: to change the total, or to remove the node of an instance. */
export type Order = { readonly total: number } | { readonly remove: string };

/** All that faults happen to. */
export class Scene {
  /** A fault has one of the servers: two at a time would mostly mean none at all. */
  isServerTaken = false;
  isTotalTaken = false;
  /** How often servers had to be started again because they did not find each other by themselves. */
  stranded = 0;

  private constructor(
    readonly ensemble: ZooKeeperEnsemble,
    readonly crowd: Crowd,
    readonly store: FencedStore,
    /** Undefined where it cannot be made. */
    readonly disk: SlowDisk | undefined,
    private readonly operator: NodeProcess,
    private readonly cleanup: Cleanup,
    private readonly folder: string,
    public total: number,
  ) {}

  static async open(folder: string, random: SeededRandom, total = 12): Promise<Scene> {
    return Cleanup.unlessOpened(async (cleanup) => {
      const temporary = await temporaryFolder('nds-chaos-');
      cleanup.add({ close: () => temporary.remove() });
      const disk = await SlowDisk.make(temporary.path);
      // A server that lost the others keeps its clients content for longer than any of their sessions.
      const timing = { links: true, syncLimit: 25 };
      const ensemble = cleanup.add(await ZooKeeperEnsemble.start({ ...timing, ...disk?.options }));
      const namespace = uniqueNamespace('chaos');
      const script = new URL('./operator.ts', import.meta.url);
      const operator = await spawnNode(script, [ensemble.connect, namespace]);
      cleanup.add({ close: async () => void (await operator.end('SIGKILL')) });
      const file = join(temporary.path, 'store.db');
      const store = cleanup.add(FencedStore.open(file));
      const ports = ensemble.members.map(({ port }) => port);
      const places = { ports, size: SLOTS, namespace, total, store: file, folder };
      const crowd = cleanup.add(await Crowd.gather(places));
      const scene = new Scene(ensemble, crowd, store, disk, operator, cleanup, folder, total);
      for (const slot of crowd.slots.slice(0, AT_FIRST)) await crowd.start(slot, random);
      await crowd.settled(total, FORMATION);
      return scene;
    });
  }

  async setTotal(total: number): Promise<void> {
    await this.#order({ total });
    this.total = total;
  }

  /** Deletes the node by which an app is registered, which goes on working. */
  async removeRegistration(id: string): Promise<void> {
    await this.#order({ remove: id });
  }

  /** Waits until all servers are one ensemble again. */
  async heal(): Promise<void> {
    const { ensemble } = this;
    for (const server of ensemble.members) await server.launch();
    if (await ensemble.reunite(15_000)) this.stranded += 1;
  }

  /** What the servers have logged goes where the apps' logs are. */
  async keepLogs(): Promise<void> {
    for (const server of this.ensemble.members) {
      await writeFile(join(this.folder, `server-${server.id}.log`), await server.log());
    }
  }

  async #order(order: Order): Promise<void> {
    const line = JSON.stringify(order);
    const after = this.operator.lines.length;
    this.operator.send(line);
    await this.operator.line((said) => said === line, { timeout: PATIENCE, after });
  }

  async close(): Promise<void> {
    await this.cleanup.close();
  }
}
