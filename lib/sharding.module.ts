import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Coordinator } from './coordinator/coordinator.js';
import type {
  ShardingModuleAsyncOptions,
  ShardingModuleRootOptions,
} from './interfaces/sharding-options.interface.js';
import { systemClock, systemRandom } from './registry/environment.js';
import { ShardingConnections } from './sharding.connections.js';
import { SHARDING_COORDINATOR_FACTORY, SHARDING_WORLD } from './sharding.constants.js';
import type { CoordinatorFactory } from './sharding.coordinator.js';
import { ShardingExplorer } from './sharding.explorer.js';
import { ShardingMetadataAccessor } from './sharding-metadata.accessor.js';
import { ConfigurableModuleClass } from './sharding.module-definition.js';
import { checkAsyncOptions, checkRootOptions } from './sharding.module-options.js';
import { ShardingOrchestrator } from './sharding.orchestrator.js';
import { ShardingRegistrations } from './sharding.registrations.js';
import type { ShardingWorld } from './sharding.world.js';
import { ShutdownHooksReminder } from './shutdown-hooks.reminder.js';

const world: ShardingWorld = { clock: systemClock, random: systemRandom };
const makeCoordinator: CoordinatorFactory = (...args) => new Coordinator(...args);

/**
 * What all registrations of one application share. Global, because Nest runs the hooks of global modules
 * first when it starts and last when it stops.
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: SHARDING_WORLD, useValue: world },
    { provide: SHARDING_COORDINATOR_FACTORY, useValue: makeCoordinator },
    ShutdownHooksReminder,
    ShardingConnections,
    ShardingRegistrations,
    ShardingMetadataAccessor,
    ShardingExplorer,
    ShardingOrchestrator,
  ],
  exports: [ShardingRegistrations],
})
class ShardingCoreModule {}

/**
 * Makes an application a member, or an observer, of a group that shares out work. Import it once, with `forRoot` or
 * `forRootAsync`, in the root module; give a second group in the same application a `name`.
 * @publicApi
 */
@Module({ imports: [ShardingCoreModule] })
export class ShardingModule extends ConfigurableModuleClass {
  /** Registers with options that are known now. */
  static override forRoot(options: ShardingModuleRootOptions): DynamicModule {
    checkRootOptions(options);
    return super.forRoot(options);
  }

  /** Registers with options that come from a factory; exactly one of the three kinds is needed. */
  static override forRootAsync(options: ShardingModuleAsyncOptions): DynamicModule {
    checkAsyncOptions(options);
    return super.forRootAsync(options);
  }
}
