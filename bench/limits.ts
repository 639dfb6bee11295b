import type { RoundTrips } from './instance.js';

/** The tick of the benchmark's ZooKeeper: it looks for dead sessions once in it. */
export const TICK = 200;

/** What the protocol may take in time, in round trips of the same run, or from the timeouts. */
export interface TimeLimit {
  readonly basis: string;
  of(trips: RoundTrips): number;
}

/** Register, revoke, acknowledge, grant, and what is read between and behind them; twice that. */
export const JOIN: TimeLimit = {
  basis: '2 × (4W+5R)',
  of: ({ write, read }) => 2 * (4 * write + 5 * read),
};

export const LEAVE: TimeLimit = {
  basis: '4 × (W+R)',
  of: ({ write, read }) => 4 * (write + read),
};

export const HAND_OVER: TimeLimit = {
  basis: '3 × (W+R)',
  of: ({ write, read }) => 3 * (write + read),
};

/**
 * A barrier: the configuration, the plan that takes everything away, the acknowledgements, and the plan
 * of the new total are written one after the other, and each has to be read before the next; twice that.
 */
export const TOTAL: TimeLimit = {
  basis: '2 × (4W+4R)',
  of: ({ write, read }) => 2 * (4 * write + 4 * read),
};

/** No round trips to speak of, but the session and the lease of the dead. */
export function crashLimit(sessionTimeout: number): { basis: string; of: () => number } {
  const lease = sessionTimeout / 2;
  const margin = Math.max(500, lease / 10);
  const limit = sessionTimeout + lease + margin + TICK + 100;
  const basis = `T + D + margin + tick + 100, T ${sessionTimeout / 1_000} s`;
  return { basis, of: () => limit };
}

/**
 * Requests of a rebalance: the 60 of a join of four, for each instance. That there is no shard in it is
 * the point: with thousands of shards, one request for each of them would be far above.
 */
export function requestLimit(instances: number): number {
  return 15 * instances;
}
