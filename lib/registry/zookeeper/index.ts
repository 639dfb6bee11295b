export { type MissingChroot, ZooKeeperRegistry } from './zookeeper-registry.js';
export type { ZooKeeperAuth, ZooKeeperOptions } from './zookeeper-options.js';
