import { systemEnvironment } from '../../lib/registry/environment.js';
import type { NodeSnapshot } from '../../lib/registry/registry.js';
import { ANY_VERSION } from '../../lib/registry/registry.js';
import { registryErrorCode } from '../../lib/registry/registry.errors.js';
import { ZooKeeperRegistry } from '../../lib/registry/zookeeper/index.js';
import {
  type ClientFactory,
  loadClientFactory,
} from '../../lib/registry/zookeeper/zookeeper-client.js';

let client: Promise<ClientFactory> | undefined;
/** Once: jest refuses an import while it changes from one concurrent test to another. */
const loadClient = (): Promise<ClientFactory> => (client ??= loadClientFactory());

/** Somebody who looks at the store of a group, and changes things there by hand. */
export class Operator {
  private constructor(private readonly registry: ZooKeeperRegistry) {}

  static async open(connect: string, credentials?: string): Promise<Operator> {
    const auth = credentials === undefined ? {} : { auth: { credentials } };
    const environment = systemEnvironment();
    const registry = new ZooKeeperRegistry({ connect, ...auth }, environment, { loadClient });
    await registry.connect();
    return new Operator(registry);
  }

  get(path: string): Promise<NodeSnapshot> {
    return this.registry.get(path);
  }

  async find(path: string): Promise<NodeSnapshot | undefined> {
    try {
      return await this.registry.get(path);
    } catch (error) {
      if (registryErrorCode(error) === 'NO_NODE') return undefined;
      throw error;
    }
  }

  async create(path: string, data: string | Buffer): Promise<void> {
    await this.registry.create(path, Buffer.from(data), { parents: true });
  }

  async write(path: string, data: string | Buffer): Promise<void> {
    await this.registry.set(path, Buffer.from(data), ANY_VERSION);
  }

  async delete(path: string): Promise<void> {
    await this.registry.delete(path, ANY_VERSION);
  }

  /** With all that is below it, which others may go on filling meanwhile. */
  async deleteAll(path: string): Promise<void> {
    for (;;) {
      try {
        for (const name of await this.registry.children(path))
          await this.deleteAll(`${path}/${name}`);
        return await this.delete(path);
      } catch (error) {
        const code = registryErrorCode(error);
        if (code === 'NO_NODE') return;
        if (code !== 'NOT_EMPTY') throw error;
      }
    }
  }

  children(path: string): Promise<readonly string[]> {
    return this.registry.children(path);
  }

  async close(): Promise<void> {
    await this.registry.close();
  }
}
