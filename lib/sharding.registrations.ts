import { Inject, Injectable, Logger } from '@nestjs/common';
import { Observer } from './coordinator/observer.js';
import type { ShardingGate, ShardingGates } from './interfaces/sharding-gate.interface.js';
import type { ShardingModuleOptions } from './interfaces/sharding-options.interface.js';
import { ownAddress } from './own-address.js';
import { type RegistryUse, ShardingConnections } from './sharding.connections.js';
import { SHARDING_COORDINATOR_FACTORY, SHARDING_WORLD } from './sharding.constants.js';
import type { CoordinatorFactory } from './sharding.coordinator.js';
import { HookDispatcher } from './sharding.dispatcher.js';
import { DuplicateShardingError } from './sharding.errors.js';
import {
  duplicateGroup,
  duplicateName,
  memoryInProduction,
  seedViewTooLarge,
} from './sharding.messages.js';
import { type CheckedShardingOptions, checkShardingOptions } from './sharding.options.js';
import { ShardingRegistration } from './sharding.registration.js';
import type { ShardingWorld } from './sharding.world.js';
import { ShutdownHooksReminder } from './shutdown-hooks.reminder.js';

const SEED_VIEW_LIMIT = 1_000;

/** All registrations of one application. */
@Injectable()
export class ShardingRegistrations implements ShardingGates {
  readonly #registrations = new Map<string | undefined, ShardingRegistration>();

  constructor(
    private readonly connections: ShardingConnections,
    private readonly reminder: ShutdownHooksReminder,
    @Inject(SHARDING_WORLD) private readonly world: ShardingWorld,
    @Inject(SHARDING_COORDINATOR_FACTORY) private readonly makeCoordinator: CoordinatorFactory,
  ) {}

  get all(): readonly ShardingRegistration[] {
    return [...this.#registrations.values()];
  }

  get names(): readonly (string | undefined)[] {
    return [...this.#registrations.keys()];
  }

  get(name: string | undefined): ShardingRegistration | undefined {
    return this.#registrations.get(name);
  }

  gate(name: string | undefined): ShardingGate | undefined {
    return this.get(name)?.gate;
  }

  /** Checks the options and puts everything together; nothing connects. */
  add(name: string | undefined, given: ShardingModuleOptions): ShardingRegistration {
    if (this.#registrations.has(name)) throw new DuplicateShardingError(duplicateName(name));
    const { random } = this.world;
    const source = { random, ip: ownAddress(), pid: process.pid };
    const options = checkShardingOptions(name, given, source);
    const registration = this.#assemble(name, options);
    this.#registrations.set(name, registration);
    return registration;
  }

  #assemble(name: string | undefined, options: CheckedShardingOptions): ShardingRegistration {
    const context = (part: string): string => (name === undefined ? part : `${part}:${name}`);
    const environment = { ...this.world, log: new Logger(context('Sharding')) };
    const use = this.connections.acquire(options.registry, options.role);
    if (options.role === 'member') {
      this.#assertOwnGroup(name, options.coordinator.namespace, use);
    }
    this.#warn(name, options, environment.log);
    const hooks = new HookDispatcher(new Logger(context('ShardingHooks')));
    const coordinator =
      options.role === 'observer'
        ? new Observer(use.registry, options.coordinator, environment)
        : this.makeCoordinator(use.registry, options.coordinator, hooks, environment);
    const { reminder } = this;
    const parts = { options, use, coordinator, hooks, environment, reminder };
    return new ShardingRegistration(name, parts);
  }

  #warn(name: string | undefined, options: CheckedShardingOptions, log: Logger): void {
    if (options.registry.type === 'memory' && process.env['NODE_ENV'] === 'production') {
      log.warn(memoryInProduction(name));
    }
    const { seedView, total } = options.coordinator;
    if (seedView && total !== 'instances' && total > SEED_VIEW_LIMIT) {
      log.warn(seedViewTooLarge(name, total, SEED_VIEW_LIMIT));
    }
  }

  /** Two members in one session could not be told apart by the store. */
  #assertOwnGroup(name: string | undefined, namespace: string, { registry }: RegistryUse): void {
    const other = this.all
      .filter(({ role }) => role === 'member')
      .find((one) => one.registry === registry && one.namespace === namespace);
    if (other) throw new DuplicateShardingError(duplicateGroup(name, other.name, namespace));
  }
}
