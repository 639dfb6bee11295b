import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { type ShardKey, shardOf } from './hash/shard-of.js';
import type { WhenReadyOptions } from './interfaces/sharding-service.interface.js';
import type {
  OwnersChange,
  Shard,
  ShardAssignment,
  ShardingStatus,
  ShardOwner,
} from './interfaces/sharding-values.interface.js';
import type { ShardingCoordinator } from './sharding.coordinator.js';
import { ShardingNotReadyError } from './sharding.errors.js';
import { notReady } from './sharding.messages.js';

/**
 * What this instance holds, who holds the rest, and who leads. Every answer is local and looks at the
 * lease: once that has run out, nothing is held.
 * @publicApi
 */
@Injectable()
export class ShardingService {
  readonly #coordinator: ShardingCoordinator;
  readonly #start: () => Promise<void>;

  /** @internal */
  constructor(coordinator: ShardingCoordinator, start: () => Promise<void>) {
    this.#coordinator = coordinator;
    this.#start = start;
  }

  /** The id of this instance in its group. */
  get instanceId(): string {
    return this.#coordinator.instanceId;
  }

  /** The items held right now, sorted; none once the lease has run out. */
  get items(): readonly number[] {
    return this.#coordinator.items;
  }

  /** How many items there are; 0 until the first plan was seen. */
  get total(): number {
    return this.#coordinator.total;
  }

  /** Whether this instance holds the item right now. */
  owns(item: number): boolean {
    return this.#coordinator.owns(item);
  }

  /** The fencing token of a held item. */
  token(item: number): bigint | undefined {
    return this.#coordinator.token(item);
  }

  /** A handle on the present holding of an item: if that is lost it stays so, also if it comes back. */
  shard(item: number): Shard | undefined {
    return this.#coordinator.shard(item);
  }

  /**
   * The item that a key belongs to: MurmurHash3 (x86, 32 bits, seed 0) of its UTF-8 bytes, modulo the
   * total. The same on every instance and in every release. Throws `ShardingNotReadyError` while the
   * total is not known.
   */
  shardOf(key: ShardKey): number {
    return shardOf(key, this.#knownTotal('shardOf()'));
  }

  /** Whether this instance holds the item that a key belongs to; throws as `shardOf()` does. */
  ownsKey(key: ShardKey): boolean {
    return this.owns(shardOf(key, this.#knownTotal('ownsKey()')));
  }

  /** Who holds an item, by the local copy of the plan; undefined if nobody does. */
  ownerOf(item: number): ShardOwner | undefined {
    return this.#coordinator.ownerOf(item);
  }

  /** Who holds the item that a key belongs to; throws as `shardOf()` does. */
  ownerOfKey(key: ShardKey): ShardOwner | undefined {
    return this.ownerOf(shardOf(key, this.#knownTotal('ownerOfKey()')));
  }

  /**
   * Which items have another owner: all of them first, as soon as there is a plan, then those of each
   * plan in which some have; completes on close. Who that is, `ownerOf()` says.
   */
  get owners$(): Observable<OwnersChange> {
    return this.#coordinator.owners$;
  }

  /** What is held right now, with the tokens. */
  get assignment(): ShardAssignment {
    return this.#coordinator.assignment;
  }

  /** The present assignment first (`added` = `items`), then every change; completes on close. */
  get assignment$(): Observable<ShardAssignment> {
    return this.#coordinator.assignment$;
  }

  /** Whether this instance leads its group right now. */
  get isLeader(): boolean {
    return this.#coordinator.isLeader;
  }

  /** Whether this instance leads, now and at every change; completes on close. */
  get leadership$(): Observable<boolean> {
    return this.#coordinator.leadership$;
  }

  /** Who leads, by the local copy of the plan. */
  get leaderId(): string | undefined {
    return this.#coordinator.leaderId;
  }

  get status(): ShardingStatus {
    return this.#coordinator.status;
  }

  /** The present status first, then every change; completes on close. */
  get status$(): Observable<ShardingStatus> {
    return this.#coordinator.status$;
  }

  /**
   * Resolves when this instance is registered and has seen a settled plan, or as an observer any plan;
   * rejects on close.
   */
  whenReady(options: WhenReadyOptions = {}): Promise<void> {
    return this.#coordinator.whenReady(options);
  }

  /** Joins the group or observes it, unless `autoStart` has done so. */
  start(): Promise<void> {
    return this.#start();
  }

  /** Gives everything up in good order and stays alive; rejects for an observer, which holds nothing. */
  drain(): Promise<void> {
    return this.#coordinator.drain();
  }

  /** Takes shards again after `drain()`; rejects for an observer. */
  resume(): Promise<void> {
    return this.#coordinator.resume();
  }

  /** Asks the leader to plan anew; resolves when the request is stored. */
  reshard(): Promise<void> {
    return this.#coordinator.reshard();
  }

  #knownTotal(question: string): number {
    const { total } = this.#coordinator;
    if (total === 0) throw new ShardingNotReadyError(notReady(question));
    return total;
  }
}
