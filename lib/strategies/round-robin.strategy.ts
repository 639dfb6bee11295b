import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { inRows } from './average.strategy.js';
import { javaHash } from './java-hash.js';

/**
 * As ElasticJob's strategy of that name: `average`, but the row of members begins at the hash of the
 * group's name, without its sign, modulo their number. In Java the lowest of all hashes, -2³¹, has no
 * positive counterpart and leads to an index below zero; here it counts as 2³¹.
 *
 * @publicApi
 */
export function roundRobin({ members, total, name = '' }: StrategyInput): Int32Array {
  const count = members.length;
  const offset = Math.abs(javaHash(name)) % count;
  return inRows(count, total, (place) => (place + offset) % count);
}
