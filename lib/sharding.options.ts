import { isTotal, MAX_TOTAL } from './coordinator/group-config.js';
import type { CoordinatorOptions, InstanceDescription } from './coordinator/coordinator.types.js';
import type {
  ShardingModuleOptions,
  ShardingRegistryOptions,
  ShardingRole,
} from './interfaces/sharding-options.interface.js';
import type { ShardingStrategy } from './interfaces/sharding-strategy.interface.js';
import type { Random } from './registry/environment.js';
import type { MemoryCluster } from './registry/memory/index.js';
import { pathProblem } from './registry/node-path.js';
import { registryErrorCode } from './registry/registry.errors.js';
import type { ZooKeeperOptions } from './registry/zookeeper/index.js';
import { checkOptions } from './registry/zookeeper/zookeeper-options.js';
import { InvalidShardingOptionsError } from './sharding.errors.js';
import { builtInStrategies } from './strategies/index.js';
import {
  badOption,
  misplacedExtra,
  missingOption,
  notAvailableYet,
  notTheExpected,
  unknownOption,
} from './sharding.messages.js';

/** The store of a registration, found good; equal keys mean that one connection serves both. */
export type RegistrySpec =
  | { readonly type: 'memory'; readonly cluster: MemoryCluster | undefined }
  | { readonly type: 'zookeeper'; readonly key: string; readonly options: ZooKeeperOptions };

/** The options of a registration, found good and complete. */
export interface CheckedShardingOptions {
  readonly registry: RegistrySpec;
  readonly role: ShardingRole;
  readonly coordinator: CoordinatorOptions;
  readonly autoStart: boolean;
}

/** What the defaults are made from. */
export interface InstanceSource {
  readonly random: Random;
  readonly ip: string;
  readonly pid: number;
}

/** What timers can wait for. */
const LONGEST = 2 ** 31 - 1;
const LONGEST_TEXT = 200;
/** A shorter one would run out while its renewal is on its way. */
const SHORTEST_LEASE = 100;
const DEFAULT_SESSION_TIMEOUT = 10_000;

const OPTIONS = [
  'registry',
  'namespace',
  'total',
  'instance',
  'strategy',
  'strategies',
  'onConfigMismatch',
  'lease',
  'startup',
  'autoStart',
  'drainTimeout',
  'rebalanceDelay',
  'rejoinWindow',
  'whileAway',
  'seedView',
  'role',
] as const satisfies readonly (keyof ShardingModuleOptions)[];
const INSTANCE = ['id', 'address', 'weight', 'labels'] as const;
const ZOOKEEPER = [
  'type',
  'connect',
  'client',
  'sessionTimeout',
  'connectTimeout',
  'auth',
  'tls',
] as const;

type Values = Readonly<Record<string, unknown>>;

/**
 * Throws `InvalidShardingOptionsError` at the first thing that is wrong, with its key, its value unless
 * that may be a secret, and what would be right.
 */
export function checkShardingOptions(
  name: string | undefined,
  given: ShardingModuleOptions,
  source: InstanceSource,
): CheckedShardingOptions {
  try {
    return check(given, source);
  } catch (error) {
    // The adapter checks its own part, and says it in the same words.
    const isProblem = error instanceof Problem || registryErrorCode(error) === 'INVALID';
    if (!isProblem) throw error;
    throw new InvalidShardingOptionsError(badOption(name, (error as Error).message));
  }
}

class Problem extends Error {}

function check(given: unknown, source: InstanceSource): CheckedShardingOptions {
  for (const extra of ['name', 'isGlobal']) {
    if (isObject(given) && extra in given) throw new Problem(misplacedExtra(extra));
  }
  const options = group('the value of the options', given, OPTIONS, '');
  const registry = checkRegistry(options['registry']);
  const namespace = checkNamespace(options['namespace']);
  const role = oneOf('role', options['role'], ['member', 'observer'] as const) ?? 'member';
  const total = checkTotal(options['total'], role);
  const instance = checkInstance(options['instance'], source);
  const strategies = checkStrategies(options['strategies']);
  const strategy = checkStrategy(options['strategy'], strategies);
  const policies = ['keep', 'overwrite', 'fail'] as const;
  const lease = group('lease', options['lease'], ['duration', 'margin']);
  const startup = group('startup', options['startup'], ['wait', 'timeout']);
  const follows = total === 'instances';
  return {
    registry,
    role,
    autoStart: flag('autoStart', options['autoStart']) ?? true,
    coordinator: {
      namespace,
      instance,
      total,
      strategy,
      strategies,
      onConfigMismatch: oneOf('onConfigMismatch', options['onConfigMismatch'], policies) ?? 'keep',
      lease: {
        duration: milliseconds('lease.duration', lease['duration'], SHORTEST_LEASE),
        margin: milliseconds('lease.margin', lease['margin'], 0),
      },
      startup: {
        wait: flag('startup.wait', startup['wait']) ?? false,
        timeout: milliseconds('startup.timeout', startup['timeout'], 1) ?? 60_000,
      },
      drainTimeout: milliseconds('drainTimeout', options['drainTimeout'], 0) ?? 15_000,
      rebalanceDelay:
        milliseconds('rebalanceDelay', options['rebalanceDelay'], 0) ?? (follows ? 1_000 : 0),
      rejoin: checkRejoin(options),
      seedView: flag('seedView', options['seedView']) ?? follows,
    },
  };
}

const REGISTRY = `{ type: 'memory' } or { type: 'zookeeper', connect: 'host:2181' }`;

function checkRegistry(given: unknown): RegistrySpec {
  if (given === undefined) throw new Problem(missingOption('registry', REGISTRY));
  // Whatever it is instead, it may hold a password.
  if (!isObject(given)) throw new Problem(notTheExpected('registry', kindOf(given), REGISTRY));
  const type = oneOf('registry.type', given['type'], ['memory', 'zookeeper'] as const);
  if (type === undefined)
    throw new Problem(missingOption('registry.type', `'memory' or 'zookeeper'`));
  return type === 'memory' ? checkMemory(given) : checkZooKeeper(given);
}

function checkMemory(given: Values): RegistrySpec {
  const { cluster } = group('registry', given, ['type', 'cluster']);
  if (cluster !== undefined && !isCluster(cluster)) {
    const expected = 'a MemoryCluster, as in new MemoryCluster()';
    throw new Problem(notTheExpected('registry.cluster', kindOf(cluster), expected));
  }
  return { type: 'memory', cluster };
}

/** By its shape: it may come from another copy of the package. */
function isCluster(value: unknown): value is MemoryCluster {
  return isObject(value) && typeof value['registry'] === 'function' && 'registries' in value;
}

function checkZooKeeper(given: Values): RegistrySpec {
  const registry = group('registry', given, ZOOKEEPER);
  const client = oneOf('registry.client', registry['client'], ['native', 'wire'] as const);
  if (client === 'wire') {
    throw new Problem(notAvailableYet('registry.client', '"wire"', 'leave it out'));
  }
  if (registry['connect'] === undefined) {
    throw new Problem(
      missingOption('registry.connect', 'servers, like "zk1:2181,zk2:2181/my-app"'),
    );
  }
  if (registry['auth'] !== undefined && !isObject(registry['auth'])) {
    const expected = '{ scheme: "digest", credentials: "user:password" }';
    throw new Problem(notTheExpected('registry.auth', kindOf(registry['auth']), expected));
  }
  if (registry['auth']) group('registry.auth', registry['auth'], ['scheme', 'credentials']);
  const { type: _, client: __, ...rest } = registry;
  const options = { sessionTimeout: DEFAULT_SESSION_TIMEOUT, ...rest } as unknown as Extract<
    ShardingRegistryOptions,
    { type: 'zookeeper' }
  >;
  return { type: 'zookeeper', options, key: JSON.stringify(checkOptions(options)) };
}

function checkNamespace(given: unknown): string {
  const namespace = text('namespace', given) ?? 'dynamic-sharding';
  const problem =
    namespace.split('/')[0] === 'zookeeper'
      ? "it is ZooKeeper's own"
      : pathProblem(`/${namespace}`);
  if (problem !== undefined) {
    const expected = `a path without a slash at its ends, like "my-app" or "team/my-app" (${problem})`;
    throw new Problem(notTheExpected('namespace', show(namespace), expected));
  }
  return namespace;
}

function checkTotal(given: unknown, role: ShardingRole): number | 'instances' {
  // It takes the group's and never looks at its own.
  if (given === undefined && role === 'observer') return 'instances';
  const expected = `a whole number from 1 to ${MAX_TOTAL}, or "instances"`;
  if (given === undefined) throw new Problem(missingOption('total', expected));
  if (!isTotal(given)) throw new Problem(notTheExpected('total', show(given), expected));
  return given;
}

function checkInstance(given: unknown, { random, ip, pid }: InstanceSource): InstanceDescription {
  const instance = group('instance', given, INSTANCE);
  const id = text('instance.id', instance['id']) ?? `${ip}@-@${pid}@-@${random.hex(8)}`;
  const problem = id.includes('/') ? 'it contains a slash' : pathProblem(`/${id}`);
  if (problem !== undefined) {
    const expected = `a name without slashes and control characters (${problem})`;
    throw new Problem(notTheExpected('instance.id', show(id), expected));
  }
  const address = text('instance.address', instance['address']);
  return {
    id,
    ip,
    pid,
    address,
    weight: checkWeight(instance['weight']),
    labels: checkLabels(instance['labels']),
  };
}

function checkWeight(given: unknown): number {
  const weight = given === undefined ? 1 : given;
  if (typeof weight !== 'number' || !Number.isFinite(weight) || weight < 0) {
    throw new Problem(notTheExpected('instance.weight', show(weight), 'a number from 0'));
  }
  return weight;
}

function checkLabels(given: unknown): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  const expected = 'an object with a string for each label';
  if (!isObject(given))
    throw new Problem(notTheExpected('instance.labels', kindOf(given), expected));
  for (const [label, value] of Object.entries(given)) {
    if (typeof value !== 'string') {
      throw new Problem(notTheExpected(`instance.labels.${label}`, show(value), 'a string'));
    }
  }
  return { ...(given as Record<string, string>) };
}

/** One's own strategies by name. */
function checkStrategies(given: unknown): Readonly<Record<string, ShardingStrategy>> {
  if (given === undefined) return {};
  if (!isObject(given)) {
    throw new Problem(notTheExpected('strategies', kindOf(given), 'functions by name'));
  }
  for (const [name, strategy] of Object.entries(given)) {
    const key = `strategies.${name}`;
    if (typeof strategy !== 'function') {
      throw new Problem(notTheExpected(key, show(strategy), 'a function'));
    }
    if (name === '' || Object.hasOwn(builtInStrategies, name)) {
      throw new Problem(`${key} needs another name: ${show(name)} is built in, or empty`);
    }
  }
  return { ...(given as Record<string, ShardingStrategy>) };
}

/** Undefined if it was not said, since only what was said is compared with the group's configuration. */
function checkStrategy(
  given: unknown,
  own: Readonly<Record<string, ShardingStrategy>>,
): string | undefined {
  const strategy = text('strategy', given);
  const known = [...Object.keys(builtInStrategies), ...Object.keys(own)];
  if (strategy !== undefined && !known.includes(strategy)) {
    const names = known.map((name) => show(name)).join(', ');
    throw new Problem(notTheExpected('strategy', show(strategy), `one of ${names}`));
  }
  return strategy;
}

/** Only an id that stays the same over a restart can be waited for. */
function checkRejoin(options: Values): CoordinatorOptions['rejoin'] {
  const window = milliseconds('rejoinWindow', options['rejoinWindow'], 0) ?? 0;
  const whileAway = oneOf('whileAway', options['whileAway'], ['wait', 'lend'] as const) ?? 'wait';
  const { id } = group('instance', options['instance'], INSTANCE);
  if (window > 0 && id === undefined) {
    throw new Problem(
      `rejoinWindow is ${window}, and instance.id is missing: set one that is the same after a ` +
        "restart, such as the host name of a StatefulSet's pod",
    );
  }
  return { window, lends: whileAway === 'lend' };
}

/** The values of a group of options that may be left out; a key that nobody reads is a mistake. */
function group(key: string, given: unknown, known: readonly string[], prefix = `${key}.`): Values {
  if (given === undefined && prefix !== '') return {};
  if (!isObject(given)) {
    throw new Problem(notTheExpected(key, kindOf(given), `an object with ${known.join(', ')}`));
  }
  // Its value is not shown: under a wrong name it may be anything, a password too.
  const unknown = Object.keys(given).find((option) => !known.includes(option));
  if (unknown !== undefined) throw new Problem(unknownOption(`${prefix}${unknown}`, known));
  return given;
}

function text(key: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT) return value;
  const expected = `a string of 1 to ${LONGEST_TEXT} characters`;
  throw new Problem(notTheExpected(key, show(value), expected));
}

function flag(key: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new Problem(notTheExpected(key, show(value), 'true or false'));
}

function oneOf<T extends string>(key: string, value: unknown, known: readonly T[]): T | undefined {
  if (value === undefined || known.includes(value as T)) return value as T | undefined;
  const expected = known.map((choice) => `"${choice}"`).join(' or ');
  throw new Problem(notTheExpected(key, show(value), expected));
}

function milliseconds(key: string, value: unknown, least: number): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= LONGEST) {
    return value as number;
  }
  const expected = `a whole number of milliseconds from ${least} to ${LONGEST}`;
  throw new Problem(notTheExpected(key, show(value), expected));
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (typeof value === 'string') return shorten(JSON.stringify(value));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return kindOf(value);
}

function shorten(shown: string): string {
  return shown.length > 80 ? `${shown.slice(0, 76)}…"` : shown;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
