import { childPath } from '../registry/node-path.js';

/** Where everything of a group lives in the store. */
export class Keyspace {
  readonly root: string;
  readonly config: string;
  readonly instances: string;
  readonly leases: string;
  readonly latches: string;
  /** The plan. */
  readonly plan: string;
  /** Created by whoever asks for a reshard. */
  readonly necessary: string;
  /** For tools: the leader's id. */
  readonly leader: string;
  /** For tools: a rebalance is under way. */
  readonly processing: string;
  /** For people: the last changes. */
  readonly history: string;

  constructor(namespace: string) {
    this.root = `/${namespace}`;
    this.config = `${this.root}/config`;
    this.instances = `${this.root}/instances`;
    this.leases = `${this.root}/leases`;
    this.latches = `${this.root}/leader/election/latch`;
    this.plan = `${this.root}/sharding`;
    this.necessary = `${this.root}/leader/sharding/necessary`;
    this.leader = `${this.root}/leader/election/instance`;
    this.processing = `${this.root}/leader/sharding/processing`;
    this.history = `${this.root}/history`;
  }

  instance(id: string): string {
    return childPath(this.instances, id);
  }

  lease(id: string): string {
    return childPath(this.leases, id);
  }

  /** For tools: the holder of an item, as the original system wrote it. */
  itemInstance(item: number): string {
    return `${this.plan}/${item}/instance`;
  }
}
