import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Environment } from './registry/environment.js';
import { MemoryCluster } from './registry/memory/index.js';
import type { Registry } from './registry/registry.js';
import type { ShardingRole } from './interfaces/sharding-options.interface.js';
import { type MissingChroot, ZooKeeperRegistry } from './registry/zookeeper/index.js';
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
  hasMember: boolean;
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
  acquire(spec: RegistrySpec, role: ShardingRole): RegistryUse {
    const { key, make } = this.#recipe(spec);
    // Who only observes writes nothing, but members may use the same connection.
    const missingChroot = (): MissingChroot => (connection.hasMember ? 'create' : 'await');
    const connection: Connection = this.#connections.get(key) ?? {
      registry: make(missingChroot),
      users: 0,
      hasMember: false,
    };
    this.#connections.set(key, connection);
    connection.users += 1;
    connection.hasMember ||= role === 'member';
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

  #recipe(spec: RegistrySpec): {
    key: unknown;
    make: (missingChroot: () => MissingChroot) => Registry;
  } {
    const environment = this.#environment;
    if (spec.type === 'zookeeper') {
      const { key, options } = spec;
      return {
        key,
        make: (missingChroot) => new ZooKeeperRegistry({ ...options, missingChroot }, environment),
      };
    }
    const cluster = spec.cluster ?? (this.#privateCluster ??= new MemoryCluster());
    return { key: cluster, make: () => cluster.registry({ environment }) };
  }
}
