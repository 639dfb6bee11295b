import { silentLog, systemEnvironment } from '../../lib/registry/environment.js';
import { ZooKeeperRegistry } from '../../lib/registry/zookeeper/index.js';
import type { Registry } from '../../lib/registry/registry.js';
import { ClientRoad } from '../kit/client-road.js';
import { ZooKeeperEnsemble } from '../kit/zookeeper-ensemble.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import type { Client, ClientOptions, CreateHarness, RegistryHarness } from './harness.js';

/** What a harness has to know of one server or several. */
interface Cluster {
  readonly members: readonly ZooKeeperServer[];
  ready(timeout?: number): Promise<void>;
  reunite(): Promise<unknown>;
  leader(): Promise<ZooKeeperServer>;
  close(): Promise<void>;
}

/** Ticks so short that a session can end within a second. */
const TICKS = { tickTime: 100 };

export const oneServer: CreateHarness = async () => {
  const server = await ZooKeeperServer.start(TICKS);
  return new ZooKeeperHarness({
    members: [server],
    ready: () => server.ready(),
    reunite: () => server.ready(),
    leader: async () => server,
    close: () => server.close(),
  });
};

export const threeServers: CreateHarness = async () =>
  new ZooKeeperHarness(await ZooKeeperEnsemble.start(TICKS));

class ZooKeeperHarness implements RegistryHarness {
  readonly haste = 1_000;
  readonly patience = 4_000;
  #isFrozen = false;
  readonly #opened: { registry: Registry; road: ClientRoad }[] = [];
  #witness: Promise<Registry> | undefined;

  constructor(private readonly cluster: Cluster) {}

  get servers(): number {
    return this.cluster.members.length;
  }

  /** The same one for all cases: nothing ever happens to it that a case does not mean to happen. */
  witness(): Promise<Registry> {
    this.#witness ??= this.#connectWitness();
    return this.#witness;
  }

  async client({ sessionTimeout = this.patience }: ClientOptions = {}): Promise<Client> {
    const road = await ClientRoad.build(this.cluster.members);
    const registry = newRegistry(road.connect, sessionTimeout);
    this.#opened.push({ registry, road });
    return { registry, link: road };
  }

  async stop(): Promise<void> {
    await Promise.all(this.cluster.members.map((member) => member.stop()));
  }

  async start(): Promise<void> {
    await Promise.all(this.cluster.members.map((member) => member.launch()));
    await this.cluster.ready();
  }

  async freeze(): Promise<void> {
    this.#isFrozen = true;
    await Promise.all(this.cluster.members.map((member) => member.freeze()));
  }

  async resume(): Promise<void> {
    for (const member of this.cluster.members) member.resume();
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    await this.cluster.reunite();
  }

  async killLeader(): Promise<void> {
    await (await this.cluster.leader()).kill();
    await this.cluster.ready();
  }

  async release(): Promise<void> {
    await this.resume();
    await this.start();
    const opened = this.#opened.splice(0);
    // Ways first: the native client blocks the event loop until its goodbye is answered, which a proxy
    // in the same process cannot do. What was a client's runs out with its session.
    await Promise.all(opened.map(({ road }) => road.close()));
    await Promise.all(opened.map(({ registry }) => registry.close()));
    await (await this.#witness)?.connect({ timeout: 20_000 });
  }

  async close(): Promise<void> {
    await (await this.#witness)?.close();
    await this.cluster.close();
  }

  async #connectWitness(): Promise<Registry> {
    const connect = this.cluster.members.map((member) => member.connect).join(',');
    const registry = newRegistry(connect, 10_000);
    await registry.connect({ timeout: 20_000 });
    return registry;
  }
}

function newRegistry(connect: string, sessionTimeout: number): Registry {
  return new ZooKeeperRegistry({ connect, sessionTimeout }, systemEnvironment(silentLog));
}
