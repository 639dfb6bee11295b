import type { CreateHarness } from './harness.js';
import { memoryHarness } from './memory.harness.js';
import { oneServer, threeServers } from './zookeeper.harness.js';

export interface Adapter {
  readonly name: string;
  readonly servers: number;
  readonly createHarness: CreateHarness;
}

/**
 * Every store that has to pass the suite: a further one is added here, and gets a spec file of two lines
 * so that it runs beside the others.
 */
export const adapters = {
  memory: { name: 'memory', servers: 3, createHarness: memoryHarness(3) },
  server: { name: 'one ZooKeeper server', servers: 1, createHarness: oneServer },
  ensemble: { name: 'a ZooKeeper ensemble of three', servers: 3, createHarness: threeServers },
} satisfies Record<string, Adapter>;
