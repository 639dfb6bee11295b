/** What an application says of itself at the moment. */
export interface AppState {
  readonly status: string;
  readonly items: number;
  readonly total: number;
  readonly isLeader: boolean;
  /** How many shards it has worked on so far. */
  readonly worked: number;
}

/** Comes with every answer of an application. */
export interface Notes {
  /** What went wrong since it last answered. */
  readonly problems: readonly string[];
  /** The longest turn of the event loop in milliseconds, as far as it was spent computing. */
  readonly longestBlock: number;
  /** The longest time in which the machine did not let it run. */
  readonly starved: number;
}

/** What a process uses of things that must not grow. */
export interface Usage {
  /** Bytes that live on after a garbage collection. */
  readonly heap: number;
  readonly rss: number;
  readonly timers: number;
  readonly handles: number;
  /** Those of the process. */
  readonly listeners: number;
  /** Those of all observables. */
  readonly subscriptions: number;
}

/** The same on the side of the store. */
export interface StoreUsage {
  readonly znodes: number;
  readonly ephemerals: number;
  readonly watches: number;
  readonly connections: number;
}

/** Reads what the server answers to `mntr`. */
export function storeUsageOf(answer: string): StoreUsage {
  const number = (name: string): number =>
    Number(new RegExp(`^${name}\\t(\\d+)`, 'm').exec(answer)?.[1]);
  return {
    znodes: number('zk_znode_count'),
    ephemerals: number('zk_ephemerals_count'),
    watches: number('zk_watch_count'),
    connections: number('zk_num_alive_connections'),
  };
}
