/** One holding of one shard by this instance, from grant to loss. @publicApi */
export interface Shard {
  readonly item: number;
  /** The fencing token of this holding: larger than that of every earlier holding of this item. */
  readonly token: bigint;
  readonly total: number;
  /** What the shared configuration says for this item, read when it was granted. */
  readonly parameter: unknown;
  /** Aborts when the shard has to be let go. */
  readonly signal: AbortSignal;
  /** False for good once the lease has run out or the release has been acknowledged. */
  readonly valid: boolean;
}

/** What this instance holds at one point. @publicApi */
export interface ShardAssignment {
  readonly epoch: number;
  readonly total: number;
  /** Sorted. */
  readonly items: readonly number[];
  readonly added: readonly number[];
  readonly removed: readonly number[];
  /** The fencing token of each held item; prints as strings in JSON. */
  readonly tokens: ReadonlyMap<number, bigint>;
}

/** One term of leadership of this instance. @publicApi */
export interface LeaderContext {
  /** Grows with every term of any leader of the group: usable as a fencing token. */
  readonly term: bigint;
  /** Aborts when the leadership ends. */
  readonly signal: AbortSignal;
}

/** A rebalance has begun. @publicApi */
export interface ShardingStartedEvent {
  readonly epoch: number;
  readonly previousTotal: number;
  readonly total: number;
  /** The items that this instance is about to lose; often none. */
  readonly losing: readonly number[];
  readonly keeping: readonly number[];
}

/** Why a shard was let go. @publicApi */
export type ReleaseReason =
  'rebalance' | 'total-changed' | 'lease-lost' | 'drain' | 'shutdown' | 'disabled' | 'evicted';

/** A shard is no longer held by this instance; its worker has ended or overrun. @publicApi */
export interface ShardReleasedEvent {
  readonly item: number;
  readonly token: bigint;
  readonly reason: ReleaseReason;
}

/** @publicApi */
export interface ShardOwner {
  readonly instanceId: string;
  readonly address?: string;
}

/** Items have another owner, another address of it, or none any more. @publicApi */
export interface OwnersChange {
  /** That of the plan that says so. */
  readonly epoch: number;
  readonly total: number;
  /** Sorted; all of them at first, and where the total has changed. */
  readonly changed: readonly number[];
}

/**
 * - `connecting`: not registered yet; an observer: no plan was seen yet;
 * - `ready`: registered, a settled plan was seen; an observer: it sees the plan;
 * - `suspended`: the connection is interrupted, the lease still runs; an observer: what it knows may be old;
 * - `lapsed`: the lease ran out, nothing is held until it is renewed;
 * - `drained`: everything was given up by `drain()`, until `resume()`;
 * - `closed`: for good.
 * @publicApi
 */
export type ShardingStatus = 'connecting' | 'ready' | 'suspended' | 'lapsed' | 'drained' | 'closed';
