import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Environment } from './registry/environment.js';
import { MemoryCluster } from './registry/memory/index.js';
import type { Registry } from './registry/registry.js';
import { ZooKeeperRegistry } from './registry/zookeeper/index.js';
import { SHARDING_WORLD } from './sharding.constants.js';
import type { RegistrySpec } from './sharding.options.js';
import type { ShardingWorld } from './sharding.world.js';

/** The use that one registration makes of a connection. */
export interface RegistryUse {
  readonly registry: Registry;
  /** Ends this use; the last one closes the connection. */
  release(): Promise<void>;
}

interface Connection {
  readonly registry: Registry;
  users: number;
}

/** The connections of one application: registrations with equal registry options share one. */
@Injectable()
export class ShardingConnections {
  readonly #connections = new Map<unknown, Connection>();
  readonly #environment: Environment;
  #privateCluster: MemoryCluster | undefined;

  constructor(@Inject(SHARDING_WORLD) world: ShardingWorld) {
    this.#environment = { ...world, log: new Logger('ShardingRegistry') };
  }

  /** Nothing connects before the registry's `connect()`. */
  acquire(spec: RegistrySpec): RegistryUse {
    const { key, make } = this.#recipe(spec);
    const connection = this.#connections.get(key) ?? { registry: make(), users: 0 };
    this.#connections.set(key, connection);
    connection.users += 1;
    let ended = false;
    return {
      registry: connection.registry,
      release: async () => {
        if (ended) return;
        ended = true;
        connection.users -= 1;
        if (connection.users > 0) return;
        this.#connections.delete(key);
        await connection.registry.close();
      },
    };
  }

  #recipe(spec: RegistrySpec): { key: unknown; make: () => Registry } {
    const environment = this.#environment;
    if (spec.type === 'zookeeper') {
      return { key: spec.key, make: () => new ZooKeeperRegistry(spec.options, environment) };
    }
    const cluster = spec.cluster ?? (this.#privateCluster ??= new MemoryCluster());
    return { key: cluster, make: () => cluster.registry({ environment }) };
  }
}
