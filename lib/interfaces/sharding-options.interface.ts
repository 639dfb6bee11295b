import type { ConfigurableModuleAsyncOptions } from '@nestjs/common';
import type { ConnectionOptions } from 'node:tls';
import type { MemoryCluster } from '../registry/memory/index.js';
import type { ZooKeeperAuth } from '../registry/zookeeper/index.js';
import type { ShardingStrategy } from './sharding-strategy.interface.js';

/** The group lives in this process: for development, tests and single-instance setups. @publicApi */
export interface MemoryShardingRegistry {
  readonly type: 'memory';
  /**
   * Apps that are given the same cluster form one group. @default one of its own for each app
   */
  readonly cluster?: MemoryCluster | undefined;
}

/** The group lives on a ZooKeeper ensemble. @publicApi */
export interface ZooKeeperShardingRegistry {
  readonly type: 'zookeeper';
  /** Servers and optionally a chroot: `'zk1:2181,zk2:2181/my-app'`. The port defaults to 2181. */
  readonly connect: string;
  /**
   * `native` is the npm package `zookeeper`; `wire`, a client in TypeScript, is not available yet.
   * @default 'native'
   */
  readonly client?: 'native' | 'wire' | undefined;
  /**
   * Milliseconds without contact after which ZooKeeper ends the session. This is what is asked for; the
   * servers may grant more or less, and that counts. @default 10000
   */
  readonly sessionTimeout?: number | undefined;
  /** Milliseconds after which an ensemble that does not answer is reported. @default 10000 */
  readonly connectTimeout?: number | undefined;
  /** Closes the group's nodes to everybody who does not have the same credentials. @default none */
  readonly auth?: ZooKeeperAuth | undefined;
  /** The native client has no TLS: with it, this is an error. @default none */
  readonly tls?: ConnectionOptions | undefined;
}

/** Where the instances of a group find each other. @publicApi */
export type ShardingRegistryOptions = MemoryShardingRegistry | ZooKeeperShardingRegistry;

/** How this process presents itself to its group. @publicApi */
export interface ShardingInstanceOptions {
  /**
   * Unique in the group, without a slash. @default `ip@-@pid@-@` and 8 random hexadecimal digits
   */
  readonly id?: string | undefined;
  /** Where others reach this instance; they find it in `ownerOf()`. @default none */
  readonly address?: string | undefined;
  /**
   * How much it takes in relation to others, with `sticky` and `rendezvous`; 0: it holds nothing, and
   * may lead. @default 1
   */
  readonly weight?: number | undefined;
  /** Published beside the id. @default {} */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** @publicApi */
export interface ShardingLeaseOptions {
  /** Milliseconds that an instance may work after its last renewal. @default half the session timeout */
  readonly duration?: number | undefined;
  /**
   * Milliseconds that are waited on top of a dead instance's lease. @default a tenth of the duration,
   * at least 500
   */
  readonly margin?: number | undefined;
}

/** @publicApi */
export interface ShardingStartupOptions {
  /**
   * Whether the application waits until it takes part in its group. If not, it starts even while the
   * store is down, and shards come later; refused credentials are fatal all the same. @default false
   */
  readonly wait?: boolean | undefined;
  /**
   * Milliseconds after which waiting ends in an error; an ensemble that does not answer at all is
   * reported after the registry's `connectTimeout` already. @default 60000
   */
  readonly timeout?: number | undefined;
}

/** What members and observers can both be told. @publicApi */
export interface ShardingCommonOptions {
  /** Where the instances find each other. */
  readonly registry: ShardingRegistryOptions;
  /** Instances with the same namespace on the same store form a group. @default 'dynamic-sharding' */
  readonly namespace?: string | undefined;
  /** @default see each of them */
  readonly instance?: ShardingInstanceOptions | undefined;
  /**
   * The name of the strategy that decides who holds what: `sticky`, `average`, `odevity`, `round-robin`,
   * `rendezvous`, or one of `strategies`. @default 'sticky'
   */
  readonly strategy?: string | undefined;
  /**
   * Strategies of one's own, by name. Every instance needs them, for any may lead. A result that is not
   * one owner for each item is refused, and `sticky` plans that step instead. @default {}
   */
  readonly strategies?: Readonly<Record<string, ShardingStrategy>> | undefined;
  /**
   * What to do when the group's shared configuration differs from these options: `keep` what is shared
   * and warn, `overwrite` it, or `fail`. An option left out never differs. @default 'keep'
   */
  readonly onConfigMismatch?: 'keep' | 'overwrite' | 'fail' | undefined;
  /** @default see each of them */
  readonly lease?: ShardingLeaseOptions | undefined;
  /** @default see each of them */
  readonly startup?: ShardingStartupOptions | undefined;
  /** Whether to start with the application; if not, call `start()` of the service. @default true */
  readonly autoStart?: boolean | undefined;
  /**
   * Milliseconds that all hooks together get to let a shard go, and that leaving may take.
   * @default 15000
   */
  readonly drainTimeout?: number | undefined;
  /**
   * Milliseconds that a leader waits for more changes before it rebalances.
   * @default 0; 1000 when the total follows the instances
   */
  readonly rebalanceDelay?: number | undefined;
  /**
   * Milliseconds for which the group waits for this instance when it stops or crashes: back in time, it
   * gets its shards back. Needs an `instance.id` that is the same after a restart. @default 0
   */
  readonly rejoinWindow?: number | undefined;
  /**
   * What becomes of its shards in the meantime: nobody works on them (`wait`), or others do and give
   * them back (`lend`). @default 'wait'
   */
  readonly whileAway?: 'wait' | 'lend' | undefined;
  /**
   * Whether the leader also writes the plan as one node per shard, for tools that read that layout. Only
   * for totals up to 1,000. @default true when the total follows the instances, else false
   */
  readonly seedView?: boolean | undefined;
}

/** An application that takes part in its group. @publicApi */
export interface ShardingMemberOptions extends ShardingCommonOptions {
  /** @default 'member' */
  readonly role?: 'member' | undefined;
  /**
   * How many shards there are, from 1 to 1,000,000; `'instances'`: as many as there are instances, so
   * that each join is a full stop of all.
   */
  readonly total: number | 'instances';
}

/**
 * An application that sees who owns what, holds nothing and is no candidate. What only a member can do
 * it does not do, whatever the other options say: so both roles can be given the same ones. @publicApi
 */
export interface ShardingObserverOptions extends ShardingCommonOptions {
  readonly role: 'observer';
  /** Not needed, and not used: an observer takes the group's. @default the group's */
  readonly total?: number | 'instances' | undefined;
}

/** @publicApi */
export type ShardingModuleOptions = ShardingMemberOptions | ShardingObserverOptions;

/** @publicApi */
export type ShardingRole = NonNullable<ShardingModuleOptions['role']>;

/** What belongs to the registration itself, not to its options. @publicApi */
export interface ShardingModuleExtras {
  /** Tells several registrations in one application apart. @default the unnamed registration */
  readonly name?: string | undefined;
  /** Whether its providers can be injected everywhere. @default true */
  readonly isGlobal?: boolean | undefined;
}

/** @publicApi */
export type ShardingModuleRootOptions = ShardingModuleOptions & ShardingModuleExtras;

/** Makes the options, for `useClass` and `useExisting`. @publicApi */
export interface ShardingOptionsFactory {
  createShardingOptions(): ShardingModuleOptions | Promise<ShardingModuleOptions>;
}

/** Exactly one of `useFactory`, `useClass` and `useExisting` is needed. @publicApi */
export interface ShardingModuleAsyncOptions
  extends
    ConfigurableModuleAsyncOptions<ShardingModuleOptions, 'createShardingOptions'>,
    ShardingModuleExtras {}
