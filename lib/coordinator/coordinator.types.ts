import type { ShardingStrategy } from '../interfaces/sharding-strategy.interface.js';
import type {
  LeaderContext,
  Shard,
  ShardAssignment,
  ShardingStartedEvent,
  ShardReleasedEvent,
} from '../interfaces/sharding-values.interface.js';

/**
 * What the application wants to be told. Each call resolves when all that listen have ended; none
 * ever rejects: whoever implements this catches and logs.
 */
export interface CoordinatorHooks {
  leader(context: LeaderContext): Promise<void>;
  leaderLost(): Promise<void>;
  shardingStarted(event: ShardingStartedEvent): Promise<void>;
  shardingCompleted(assignment: ShardAssignment): Promise<void>;
  // Undefined where nobody listens: with thousands of shards a promise for each costs more than it says.
  shardAcquired(shard: Shard): Promise<void> | undefined;
  shardReleased(event: ShardReleasedEvent): Promise<void> | undefined;
}

/** How this process presents itself to the group. */
export interface InstanceDescription {
  /** Unique in the group; stable across sessions of this process. */
  readonly id: string;
  readonly ip: string;
  readonly pid: number;
  readonly address?: string | undefined;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
}

export type ConfigMismatchPolicy = 'keep' | 'overwrite' | 'fail';

/** The options of a coordinator: validated and with every default filled in by whoever makes them. */
export interface CoordinatorOptions {
  readonly namespace: string;
  readonly instance: InstanceDescription;
  /** What this process wants the shared configuration to be. */
  readonly total: number | 'instances';
  /** Undefined: not said, so it is never compared. */
  readonly strategy: string | undefined;
  /** Those of the application, by name. */
  readonly strategies: Readonly<Record<string, ShardingStrategy>>;
  readonly onConfigMismatch: ConfigMismatchPolicy;
  readonly lease: { readonly duration: number | undefined; readonly margin: number | undefined };
  readonly startup: { readonly wait: boolean; readonly timeout: number };
  readonly drainTimeout: number;
  readonly rebalanceDelay: number;
  /** Whether and how the group waits for this instance if it goes. */
  readonly rejoin: { readonly window: number; readonly lends: boolean };
  readonly seedView: boolean;
}

/** What an observer needs of them. */
export type ObserverOptions = Pick<CoordinatorOptions, 'namespace' | 'instance' | 'startup'>;
