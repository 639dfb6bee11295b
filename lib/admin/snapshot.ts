import { decodeConfig, type GroupConfig, InvalidConfigError } from '../coordinator/group-config.js';
import { decodeHistory, type HistoryEntry } from '../coordinator/history-entry.js';
import { Keyspace } from '../coordinator/keyspace.js';
import { mayHold } from '../coordinator/lease-keeper.js';
import { decodeMember, type MemberRecord } from '../coordinator/member-record.js';
import type { Plan } from '../coordinator/plan.js';
import { type PlanFinding, readPlan } from '../coordinator/plan-store.js';
import type { Environment } from '../registry/environment.js';
import { childPath } from '../registry/node-path.js';
import type { NodeSnapshot, Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { sequenceOf } from '../registry/sure-writes.js';
import { NoSuchGroupError } from './admin.errors.js';

/** All that the store says of a group, read as close to one moment as it can be. */
export interface GroupSnapshot {
  readonly namespace: string;
  /** When it was read, by our clock. */
  readonly at: number;
  /** How many milliseconds the store took to answer a question. */
  readonly roundTrip: number;
  readonly config: SeenConfig;
  readonly plan: PlanFinding;
  readonly instances: readonly SeenInstance[];
  readonly leases: readonly SeenLease[];
  /** Those who stand for election, the first in line first. */
  readonly candidates: readonly SeenCandidate[];
  /** A reshard was asked for, and nobody has taken the request yet. */
  readonly isAsked: boolean;
  /** Oldest first. */
  readonly history: readonly HistoryEntry[];
}

export type SeenConfig =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string; readonly version: number }
  | { readonly kind: 'config'; readonly config: GroupConfig; readonly version: number };

interface Seen {
  readonly id: string;
  /** The session that it lives in; undefined for a node that outlives everybody. */
  readonly session: string | undefined;
}

export interface SeenInstance extends Seen {
  /** Undefined if what stands there is no registration. */
  readonly record: MemberRecord | undefined;
}

export interface SeenLease extends Seen {
  /** Whether its owner may hold anything. */
  readonly mayHold: boolean;
}

export type SeenCandidate = Seen;

/** Those whose registration can be read. */
export function recordsOf({ instances }: GroupSnapshot): MemberRecord[] {
  return instances.flatMap(({ record }) => record ?? []);
}

export function planOf({ plan }: GroupSnapshot): Plan | undefined {
  return plan.kind === 'plan' ? plan.plan : undefined;
}

export function configOf({ config }: GroupSnapshot): GroupConfig | undefined {
  return config.kind === 'config' ? config.config : undefined;
}

/** The first in line. */
export function leaderOf({ candidates }: GroupSnapshot): string | undefined {
  return candidates[0]?.id;
}

/** How often to look again where instances come and go while they are read. */
const MOST_LOOKS = 3;

/** Throws `NoSuchGroupError` where there is none. */
export async function readSnapshot(
  registry: Registry,
  { clock }: Pick<Environment, 'clock'>,
  namespace: string,
): Promise<GroupSnapshot> {
  const keyspace = new Keyspace(namespace);
  const reader = new Reader(registry, keyspace);
  const began = clock.monotonic();
  await registry.sync(keyspace.root);
  const roundTrip = clock.monotonic() - began;
  let names = await reader.names();
  for (let look = 1; ; look++) {
    // All in one go, and the names once more behind it: so nobody is missed who came meanwhile.
    const [found, namesAfter] = await Promise.all([reader.everything(names), reader.names()]);
    if (!found) throw new NoSuchGroupError(namespace);
    if (look === MOST_LOOKS || JSON.stringify(names) === JSON.stringify(namesAfter)) {
      return { namespace, at: clock.wall(), roundTrip, ...found };
    }
    names = namesAfter;
  }
}

interface Names {
  readonly instances: readonly string[];
  readonly leases: readonly string[];
  readonly latches: readonly string[];
}

class Reader {
  constructor(
    private readonly registry: Registry,
    private readonly keyspace: Keyspace,
  ) {}

  async names(): Promise<Names> {
    const { instances, leases, latches } = this.keyspace;
    const paths = [instances, leases, latches];
    const lists = await Promise.all(paths.map((path) => orNothing(this.registry.children(path))));
    return { instances: lists[0] ?? [], leases: lists[1] ?? [], latches: lists[2] ?? [] };
  }

  /** Undefined if there is no group. */
  async everything(
    names: Names,
  ): Promise<Omit<GroupSnapshot, 'namespace' | 'at' | 'roundTrip'> | undefined> {
    const { registry, keyspace } = this;
    const line = names.latches
      .filter((name) => Number.isInteger(sequenceOf(name)))
      .toSorted((a, b) => sequenceOf(a) - sequenceOf(b));
    const [plan, instances, config, leases, latches, request, history, home] = await Promise.all([
      this.#get(keyspace.plan),
      this.#all(keyspace.instances, names.instances),
      this.#get(keyspace.config),
      this.#all(keyspace.leases, names.leases),
      this.#all(keyspace.latches, line),
      this.#get(keyspace.necessary),
      this.#get(keyspace.history),
      registry.exists(keyspace.instances),
    ]);
    if (!plan && !config && !home) return undefined;
    const registered = instances.map(({ name, node }) => ({
      ...seen(name, node),
      record: decodeMember(name, node.data),
    }));
    return {
      config: seenConfig(config),
      plan: readPlan(plan),
      instances: registered,
      leases: leases.map(({ name, node }) => ({
        ...seen(name, node),
        mayHold: mayHold(node.data),
      })),
      candidates: latches.map(({ name, node }) => seen(candidateId(node.data) ?? name, node)),
      isAsked: request !== undefined && !isMarker(request, registered),
      history: history ? decodeHistory(history.data) : [],
    };
  }

  async #all(
    parent: string,
    names: readonly string[],
  ): Promise<{ name: string; node: NodeSnapshot }[]> {
    const nodes = await Promise.all(names.map((name) => this.#get(childPath(parent, name))));
    return names.flatMap((name, index) => {
      const node = nodes[index];
      return node ? { name, node } : [];
    });
  }

  #get(path: string): Promise<NodeSnapshot | undefined> {
    return orNothing(this.registry.get(path));
  }
}

function seen(id: string, { stat }: NodeSnapshot): Seen {
  return { id, session: stat.owner };
}

/** For tools, instances show there with their incarnation that they rebalance. */
function isMarker({ data }: NodeSnapshot, instances: readonly SeenInstance[]): boolean {
  const text = data.toString();
  return instances.some(({ record }) => record?.incarnation === text);
}

function candidateId(data: Buffer): string | undefined {
  try {
    const { id } = JSON.parse(data.toString()) as { id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

function seenConfig(node: NodeSnapshot | undefined): SeenConfig {
  if (!node) return { kind: 'absent' };
  try {
    return { kind: 'config', config: decodeConfig(node.data), version: node.stat.version };
  } catch (error) {
    if (!(error instanceof InvalidConfigError)) throw error;
    return { kind: 'unreadable', reason: error.message, version: node.stat.version };
  }
}

async function orNothing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (registryErrorCode(error) === 'NO_NODE') return undefined;
    throw error;
  }
}
