import { ShardingAdmin } from './admin/index.js';
import type { ShardingRole } from './interfaces/sharding-options.interface.js';
import type { GuardKind } from './interfaces/sharding-metadata.interface.js';
import type { Environment } from './registry/environment.js';
import type { Registry } from './registry/registry.js';
import type { HookDispatcher } from './sharding.dispatcher.js';
import { endsWithin } from './coordinator/async.js';
import type { ShardingCoordinator } from './sharding.coordinator.js';
import { RegistrationGate } from './sharding.gate.js';
import type { RegistryUse } from './sharding.connections.js';
import {
  notYetObserving,
  notYetRegistered,
  reasonOf,
  stackOf,
  startFailedLate,
  stopFailed,
  stopOverran,
} from './sharding.messages.js';
import type { CheckedShardingOptions } from './sharding.options.js';
import { ShardingService } from './sharding.service.js';
import type { ShutdownHooksReminder } from './shutdown-hooks.reminder.js';

/**
 * How long an application that does not wait for its group is held up all the same: long enough to hear
 * that the credentials are refused or the client is missing, which it must not start with.
 */
const GRACE = 3_000;

/** What leaving may take beyond the bound that the coordinator keeps itself. */
const STOP_SLACK = 5_000;

export interface RegistrationParts {
  readonly options: CheckedShardingOptions;
  readonly use: RegistryUse;
  readonly coordinator: ShardingCoordinator;
  readonly hooks: HookDispatcher;
  readonly environment: Environment;
  readonly reminder: ShutdownHooksReminder;
}

/** One `forRoot` in one application: what belongs together, and its way from start to close. */
export class ShardingRegistration {
  readonly service: ShardingService;
  readonly gate: RegistrationGate;
  readonly admin: ShardingAdmin;
  readonly #guarded = new Set<GuardKind>();
  #stopped: Promise<void> | undefined;

  constructor(
    readonly name: string | undefined,
    private readonly parts: RegistrationParts,
  ) {
    this.gate = new RegistrationGate(parts.coordinator);
    this.service = new ShardingService(parts.coordinator, () => this.start());
    const { strategies } = parts.options.coordinator;
    this.admin = new ShardingAdmin(this.registry, this.namespace, parts.environment, strategies);
  }

  get hooks(): HookDispatcher {
    return this.parts.hooks;
  }

  get namespace(): string {
    return this.parts.options.coordinator.namespace;
  }

  get registry(): Registry {
    return this.parts.use.registry;
  }

  get role(): ShardingRole {
    return this.parts.options.role;
  }

  get autoStart(): boolean {
    return this.parts.options.autoStart;
  }

  /** There are methods behind the gate: what runs in them counts as work that a hand-over waits for. */
  guard(kind: GuardKind): void {
    if (this.#guarded.has(kind)) return;
    this.#guarded.add(kind);
    const { gate, hooks } = this;
    const label = 'calls under way';
    if (kind === 'leader') {
      const decorator = '@LeaderOnly';
      hooks.add('leader', { label, decorator, run: (context) => gate.leaderIdle(context) });
    } else {
      const decorator = '@PerShard';
      hooks.add('shardAcquired', { label, decorator, run: (shard) => gate.shardIdle(shard) });
    }
  }

  /** May be called again and again: there is one start. */
  async start(): Promise<void> {
    await this.parts.coordinator.start();
    this.#remind();
  }

  /** The start with the application, which waits for its end only if it was told to. */
  async startWithApplication(): Promise<void> {
    const { options, environment } = this.parts;
    const started = this.start();
    if (options.coordinator.startup.wait || (await endsWithin(environment.clock, started, GRACE))) {
      return started;
    }
    const notYet = this.role === 'member' ? notYetRegistered : notYetObserving;
    environment.log.warn(notYet(this.name, this.#where, GRACE));
    this.#remind();
    started.catch((error: unknown) => {
      if (this.#stopped) return;
      const message = startFailedLate(this.name, this.role, reasonOf(error));
      environment.log.error(message, stackOf(error));
    });
  }

  /** Leaves the group in good order. Never rejects and never takes for ever: shutting down goes on. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ends the session, if no other registration uses it. */
  async close(): Promise<void> {
    await this.stop();
    await this.parts.use.release();
  }

  /** Of shutdown hooks: whoever holds nothing leaves nothing behind, and may go without a word. */
  #remind(): void {
    if (this.role === 'member') this.parts.reminder.arm();
  }

  get #where(): string {
    const { registry } = this.parts.options;
    return registry.type === 'memory' ? 'the memory cluster' : registry.options.connect;
  }

  async #stop(): Promise<void> {
    const { coordinator, environment, options } = this.parts;
    const { clock, log } = environment;
    const limit = options.coordinator.drainTimeout + STOP_SLACK;
    const stopping = coordinator.stop().catch((error: unknown) => {
      log.error(stopFailed(this.name, reasonOf(error)), stackOf(error));
    });
    if (!(await endsWithin(clock, stopping, limit))) log.warn(stopOverran(this.name, limit));
  }
}
