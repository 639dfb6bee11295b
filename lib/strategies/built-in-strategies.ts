import type { ShardingStrategy } from '../interfaces/sharding-strategy.interface.js';
import { average } from './average.strategy.js';
import { odevity } from './odevity.strategy.js';
import { rendezvous } from './rendezvous.strategy.js';
import { roundRobin } from './round-robin.strategy.js';
import { sticky } from './sticky.strategy.js';

/** The strategies that need no registration, by the name that stands in a group's configuration. @publicApi */
export const builtInStrategies: Readonly<Record<string, ShardingStrategy>> = Object.freeze({
  sticky,
  average,
  odevity,
  'round-robin': roundRobin,
  rendezvous,
});
