import { ShardingAdmin } from '../../lib/admin/index.js';
import { Coordinator } from '../../lib/coordinator/coordinator.js';
import type { CoordinatorOptions } from '../../lib/coordinator/coordinator.types.js';
import { systemEnvironment } from '../../lib/registry/environment.js';
import { MemoryCluster, type MemoryRegistry } from '../../lib/registry/memory/index.js';
import { coordinatorOptions, RecordingHooks } from './coordinators.js';

export interface GroupMember {
  readonly coordinator: Coordinator;
  readonly hooks: RecordingHooks;
  readonly registry: MemoryRegistry;
}

type MemberOptions = Partial<Omit<CoordinatorOptions, 'instance'>> & {
  readonly weight?: number;
  readonly labels?: Readonly<Record<string, string>>;
};

/** Real coordinators of one group on a memory cluster, and who administers it. */
export class MemoryGroup {
  readonly cluster = new MemoryCluster();
  readonly members = new Map<string, GroupMember>();
  readonly #registries: MemoryRegistry[] = [];

  constructor(
    readonly namespace = 'group',
    private readonly options: Partial<CoordinatorOptions> = {},
  ) {}

  /** Starts an instance, and waits until it is ready. */
  async start(id: string, options: MemberOptions = {}): Promise<GroupMember> {
    const { weight = 1, labels = {}, ...others } = options;
    const environment = systemEnvironment();
    const registry = this.cluster.registry({ environment, label: id });
    this.#registries.push(registry);
    const hooks = new RecordingHooks();
    const { namespace } = this;
    const instance = { id, ip: '10.0.0.1', pid: 1, weight, labels };
    const all = coordinatorOptions({ namespace, ...this.options, ...others, instance });
    const member = {
      coordinator: new Coordinator(registry, all, hooks, environment),
      hooks,
      registry,
    };
    this.members.set(id, member);
    await member.coordinator.start();
    return member;
  }

  async startAll(...ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.start(id);
  }

  /** Leaves in good order. */
  async stop(id: string): Promise<void> {
    const member = this.members.get(id)!;
    this.members.delete(id);
    await member.coordinator.stop();
    await member.registry.close();
  }

  registry(): MemoryRegistry {
    const registry = this.cluster.registry({ environment: systemEnvironment() });
    this.#registries.push(registry);
    return registry;
  }

  admin(registry = this.registry()): ShardingAdmin {
    return new ShardingAdmin(registry, this.namespace, systemEnvironment());
  }

  items(id: string): readonly number[] {
    return this.members.get(id)!.coordinator.items;
  }

  async close(): Promise<void> {
    await Promise.all([...this.members.values()].map(({ coordinator }) => coordinator.stop()));
    await Promise.all(this.#registries.map((registry) => registry.close()));
  }
}
