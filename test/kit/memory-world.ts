import type { Environment } from '../../lib/registry/environment.js';
import { MemoryCluster, type MemoryRegistry } from '../../lib/registry/memory/index.js';
import type { CreateMode } from '../../lib/registry/registry.js';
import { registryErrorCode } from '../../lib/registry/registry.errors.js';
import { SeededRandom } from './seeded-random.js';
import { type VirtualClock, VirtualTime } from './virtual-clock.js';

export interface WorldClient {
  readonly registry: MemoryRegistry;
  readonly environment: Environment;
  /** The id of the session that it had when it connected. */
  readonly session: string;
  /** What was logged: the level, then the message. */
  readonly logged: string[];
  /** Every request so far, such as `set /a`; live views included. */
  readonly requests: string[];
}

/** A memory registry on virtual time, and an operator who does things to it by hand. */
export class MemoryWorld {
  readonly time = new VirtualTime();
  readonly clock: VirtualClock = this.time.clock();
  readonly cluster: MemoryCluster;
  #operator: MemoryRegistry | undefined;
  #seed = 1;

  constructor(readonly sessionTimeout = 10_000) {
    this.cluster = new MemoryCluster({
      clock: this.clock,
      random: new SeededRandom(1),
      timed: true,
      sessionTimeout,
    });
  }

  environment(logged: string[] = []): Environment {
    const log =
      (level: string) =>
      (message: string): void =>
        void logged.push(`${level} ${message}`);
    return {
      clock: this.clock,
      random: new SeededRandom(this.#seed++),
      log: { debug: log('debug'), log: log('log'), warn: log('warn'), error: log('error') },
    };
  }

  async client(label = ''): Promise<WorldClient> {
    const logged: string[] = [];
    const environment = this.environment(logged);
    const registry = this.cluster.registry({ environment, label });
    const requests = requestsOf(registry);
    await registry.connect();
    return { registry, environment, session: registry.session.id!, logged, requests };
  }

  async operator(): Promise<MemoryRegistry> {
    this.#operator ??= (await this.client('operator')).registry;
    return this.#operator;
  }

  /** The data of a node as text; undefined where there is none. */
  async read(path: string): Promise<string | undefined> {
    try {
      return (await (await this.operator()).get(path)).data.toString();
    } catch (error) {
      if (registryErrorCode(error) !== 'NO_NODE') throw error;
      return undefined;
    }
  }

  async children(path: string): Promise<readonly string[]> {
    const operator = await this.operator();
    return (await operator.exists(path)) ? operator.children(path) : [];
  }

  async put(path: string, data: string, mode: CreateMode = 'persistent'): Promise<void> {
    const operator = await this.operator();
    if (await operator.exists(path)) await operator.set(path, Buffer.from(data), -1);
    else await operator.create(path, Buffer.from(data), { parents: true, mode });
  }

  async remove(path: string): Promise<void> {
    await (await this.operator()).delete(path, -1);
  }
}

function requestsOf({ link }: MemoryRegistry): string[] {
  const requests: string[] = [];
  const send = link.send.bind(link);
  link.send = (request) => {
    requests.push(`${request.command.kind} ${request.command.path}`);
    send(request);
  };
  return requests;
}
