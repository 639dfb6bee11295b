export { MemoryCluster } from './memory-cluster.js';
export type { Commit, MemoryClusterOptions, MemoryRegistryOptions } from './memory-cluster.js';
export type { Direction, MemoryLink } from './memory-link.js';
export type { MemoryRegistry } from './memory-registry.js';
export type { MemoryServer } from './memory-server.js';
