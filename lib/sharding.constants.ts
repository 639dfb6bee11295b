/**
 * Tokens and keys are strings or `Symbol.for`, so that two copies of the package in one process (an
 * ESM and a CommonJS one) understand each other.
 */
const key = (name: string): symbol => Symbol.for(`nestjs-dynamic-sharding:${name}`);

/** Metadata of a method: the hooks it listens to, an array of `HookMetadata`. */
export const SHARDING_HOOKS = key('hooks');

/** Metadata of a method: the gates it stands behind, an array of `GuardMetadata`. */
export const SHARDING_GUARDS = key('guards');

/** The property of an instance through which its guarded methods find their gates. */
export const SHARDING_GATES = key('gates');

/** Injects the options of one registration inside its own module. */
export const SHARDING_MODULE_OPTIONS = key('module-options');

/** Injects the clock and the randomness of the whole application. */
export const SHARDING_WORLD = key('world');

/** Injects what makes a coordinator: the seam for tests and for the test kit. */
export const SHARDING_COORDINATOR_FACTORY = key('coordinator-factory');
