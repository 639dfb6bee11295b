import { MemoryCluster, type MemoryRegistry } from '../../lib/registry/memory/index.js';
import type { Registry } from '../../lib/registry/registry.js';
import type { Client, ClientOptions, CreateHarness, RegistryHarness } from './harness.js';

/** The memory adapter: three servers in this process, real time. */
export function memoryHarness(servers: number): CreateHarness {
  return async () => new MemoryHarness(servers);
}

class MemoryHarness implements RegistryHarness {
  readonly haste = 300;
  readonly patience = 1_500;
  readonly #cluster: MemoryCluster;
  readonly #clients: MemoryRegistry[] = [];

  constructor(readonly servers: number) {
    this.#cluster = new MemoryCluster({ servers, timed: true });
  }

  async witness(): Promise<Registry> {
    const { registry } = await this.client();
    await registry.connect();
    return registry;
  }

  async client({ sessionTimeout = this.patience }: ClientOptions = {}): Promise<Client> {
    const registry = this.#cluster.registry({ sessionTimeout });
    this.#clients.push(registry);
    const { link } = registry;
    const sent = countRequests(registry);
    return {
      registry,
      link: {
        cut: async () => link.cut(),
        heal: async () => link.heal(),
        freeze: (direction) => link.freeze(direction),
        thaw: () => link.thaw(),
        delay: (milliseconds) => link.delay(milliseconds),
        loseNextAnswer: () => link.loseNextAnswer(),
        loseNextRequest: () => link.loseNextRequest(),
        requests: () => sent.requests,
        reads: () => sent.reads,
      },
    };
  }

  async stop(): Promise<void> {
    for (const server of this.#cluster.servers) server.stop();
  }

  async start(): Promise<void> {
    for (const server of this.#cluster.servers) server.start();
  }

  async freeze(): Promise<void> {
    for (const { link } of this.#clients) link.freeze();
  }

  async resume(): Promise<void> {
    for (const { link } of this.#clients) link.thaw();
  }

  /** No server of this cluster decides alone, so it is the one with the most clients to lose. */
  async killLeader(): Promise<void> {
    const numbers = this.#clients.map(({ link }) => link.server);
    this.#cluster.servers[numbers.find((number) => number !== undefined) ?? 0]?.stop();
  }

  async release(): Promise<void> {
    await this.start();
    for (const registry of this.#clients.splice(0)) {
      registry.link.thaw();
      registry.link.heal();
      await registry.close();
    }
  }

  async close(): Promise<void> {}
}

function countRequests({ link }: MemoryRegistry): { requests: number; reads: number } {
  const sent = { requests: 0, reads: 0 };
  const send = link.send.bind(link);
  link.send = (request) => {
    sent.requests += 1;
    if ('watch' in request.command) sent.reads += 1;
    send(request);
  };
  return sent;
}
