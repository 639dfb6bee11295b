import type { Environment } from './registry/environment.js';

/** The clock and the randomness of an application; each component adds its own log. */
export type ShardingWorld = Pick<Environment, 'clock' | 'random'>;
