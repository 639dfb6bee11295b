import type { Coordinator } from './coordinator/coordinator.js';

/** A coordinator by its shape: the real one, or what a test puts in its place. */
export type ShardingCoordinator = Pick<Coordinator, keyof Coordinator>;

/** Makes a coordinator that does nothing before `start()`. */
export type CoordinatorFactory = (
  ...args: ConstructorParameters<typeof Coordinator>
) => ShardingCoordinator;
