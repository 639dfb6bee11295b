import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type {
  GuardMetadata,
  HookKind,
  HookMetadata,
} from './interfaces/sharding-metadata.interface.js';
import { SHARDING_GATES } from './sharding.constants.js';
import type { HookListener } from './sharding.dispatcher.js';
import { UnknownShardingError } from './sharding.errors.js';
import {
  cannotGuard,
  neverCalled,
  neverLetThrough,
  neverRun,
  unknownRegistrations,
} from './sharding.messages.js';
import { ShardingMetadataAccessor } from './sharding-metadata.accessor.js';
import { ShardingRegistrations } from './sharding.registrations.js';

type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

interface Finding<M> {
  readonly instance: object;
  readonly key: string;
  readonly label: string;
  readonly metadata: M;
}

type Decoration = HookMetadata | GuardMetadata;

/** Finds the decorated methods of the application and joins them with their registrations. */
@Injectable()
export class ShardingExplorer implements OnModuleInit {
  readonly #logger = new Logger('ShardingExplorer');

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly accessor: ShardingMetadataAccessor,
    private readonly registrations: ShardingRegistrations,
  ) {}

  onModuleInit(): void {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()].filter(
      ({ isAlias }) => !isAlias,
    );
    for (const wrapper of wrappers) this.#warnIfNotStatic(wrapper);
    const instances = new Set(wrappers.flatMap(instancesOf));
    const hooks = this.#find(instances, ([method]) => this.accessor.hooksOf(method));
    // An overriding method may call the guarded one that it overrides.
    const guards = this.#find(instances, (methods) =>
      methods.flatMap((method) => this.accessor.guardsOf(method)),
    );
    this.#assertKnown([...hooks, ...guards]);
    this.#warnOfObservers([...hooks, ...guards]);
    for (const hook of hooks) this.#listen(hook);
    for (const { instance, label, metadata } of guards) {
      this.#openGates(instance, metadata.decorator, label);
      this.registrations.get(metadata.sharding)?.guard(metadata.kind);
    }
  }

  #find<M>(
    instances: Iterable<object>,
    read: (methods: readonly unknown[]) => readonly M[],
  ): readonly Finding<M>[] {
    return [...instances].flatMap((instance) =>
      this.#methodsOf(instance).flatMap((key) =>
        read(versionsOf(instance, key)).map((metadata) => ({
          instance,
          key,
          label: `${instance.constructor.name}@${key}`,
          metadata,
        })),
      ),
    );
  }

  #methodsOf(instance: object): readonly string[] {
    const prototype = Object.getPrototypeOf(instance) as object | null;
    return prototype ? this.scanner.getAllMethodNames(prototype) : [];
  }

  #assertKnown(findings: readonly Finding<Decoration>[]): void {
    const unknown = findings.filter(({ metadata }) => !this.registrations.get(metadata.sharding));
    if (unknown.length === 0) return;
    const uses = unknown.map(({ label, metadata }) => ({ label, ...metadata }));
    throw new UnknownShardingError(unknownRegistrations(uses, this.registrations.names));
  }

  #warnOfObservers(findings: readonly Finding<Decoration>[]): void {
    for (const { name, role } of this.registrations.all) {
      const uses = findings
        .filter(({ metadata }) => role === 'observer' && metadata.sharding === name)
        .map(({ label, metadata: { decorator } }) => ({ label, decorator }));
      if (uses.length > 0) this.#logger.warn(neverRun(name, uses));
    }
  }

  #listen({ instance, key, label, metadata }: Finding<HookMetadata>): void {
    const listener: HookListener<HookKind> = {
      label,
      decorator: metadata.decorator,
      // Looked up at each call, so that a spy put on the instance later is called as well.
      run: (...args) =>
        (instance as Record<string, (...args: unknown[]) => unknown>)[key]!(...args),
    };
    this.registrations.get(metadata.sharding)?.hooks.add(metadata.kind, listener);
  }

  #openGates(instance: object, decorator: string, label: string): void {
    const property = { value: this.registrations, configurable: true };
    if (Reflect.defineProperty(instance, SHARDING_GATES, property)) return;
    throw new TypeError(cannotGuard(decorator, label));
  }

  #warnIfNotStatic(wrapper: InstanceWrapper): void {
    if (wrapper.isDependencyTreeStatic()) return;
    const prototype = (wrapper.metatype as { prototype?: object } | null)?.prototype;
    if (!prototype) return;
    for (const key of this.scanner.getAllMethodNames(prototype)) {
      const method = (prototype as Record<string, unknown>)[key];
      const label = `${wrapper.name}@${key}`;
      for (const { decorator } of this.accessor.hooksOf(method)) {
        this.#logger.warn(neverCalled(decorator, label));
      }
      for (const { decorator } of this.accessor.guardsOf(method)) {
        this.#logger.warn(neverLetThrough(decorator, label));
      }
    }
  }
}

/** The method that a call reaches, then those that it overrides. */
function versionsOf(instance: object, key: string): readonly unknown[] {
  const versions = new Set([(instance as Record<string, unknown>)[key]]);
  for (let owner = instance; owner; owner = Object.getPrototypeOf(owner) as object) {
    const method: unknown = Object.getOwnPropertyDescriptor(owner, key)?.value;
    if (method) versions.add(method);
  }
  return [...versions];
}

/** A transient provider has an instance for each that injects it, and none of its own. */
function instancesOf(wrapper: InstanceWrapper): readonly object[] {
  if (!wrapper.isDependencyTreeStatic()) return [];
  const instances: readonly unknown[] = wrapper.isTransient
    ? wrapper.getStaticTransientInstances().map((host) => host?.instance as unknown)
    : [wrapper.instance];
  return instances.filter((instance) => typeof instance === 'object' && instance !== null);
}
