import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { inRows } from './average.strategy.js';
import { javaHash } from './java-hash.js';

/**
 * As ElasticJob's strategy of that name: `average`, but with the members in reverse order if the hash of
 * the group's name is even (so small groups do not all burden the same members). Without a name the
 * hash is 0, so even.
 *
 * @publicApi
 */
export function odevity({ members, total, name = '' }: StrategyInput): Int32Array {
  const last = members.length - 1;
  const isEven = javaHash(name) % 2 === 0;
  return inRows(members.length, total, (place) => (isEven ? last - place : place));
}
