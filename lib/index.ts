export * from './admin/index.js';
export * from './decorators/index.js';
export type { ShardKey } from './hash/shard-of.js';
export type * from './interfaces/sharding-decorators.interface.js';
export type * from './interfaces/sharding-options.interface.js';
export type * from './interfaces/sharding-service.interface.js';
export type * from './interfaces/sharding-strategy.interface.js';
export type * from './interfaces/sharding-values.interface.js';
export * from './coordinator/coordinator.errors.js';
export {
  type GroupConfig,
  type InstanceConfig,
  InvalidConfigError,
  type ItemConfig,
} from './coordinator/group-config.js';
export type { HistoryCauses, HistoryEntry } from './coordinator/history-entry.js';
export * from './registry/memory/index.js';
export { ANY_VERSION } from './registry/registry.js';
export type * from './registry/registry.js';
export {
  AbortedError,
  BadVersionError,
  ClientMissingError,
  ConnectionLostError,
  InvalidArgumentError,
  NoAuthError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  OperationFailedError,
  RegistryClosedError,
  RegistryError,
  type RegistryErrorCode,
  SessionLostError,
  TimedOutError,
  TooLargeError,
  UnreachableError,
} from './registry/registry.errors.js';
export type { ZooKeeperAuth } from './registry/zookeeper/index.js';
export * from './sharding.errors.js';
export { ShardingModule } from './sharding.module.js';
export { ShardingService } from './sharding.service.js';
export {
  getShardingAdminToken,
  getShardingOptionsToken,
  getShardingToken,
} from './sharding.tokens.js';
