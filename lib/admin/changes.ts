import {
  type GroupConfig,
  type InstanceConfig,
  InvalidConfigError,
  type ItemConfig,
} from '../coordinator/group-config.js';

/** What an operator wants of the configuration, with what it is about: that has to exist. */
export interface ConfigChange {
  readonly instances: readonly string[];
  readonly items: readonly number[];
  readonly apply: (config: GroupConfig) => GroupConfig;
}

/** An instance by its id, or items by their numbers. @publicApi */
export type ShardingTarget =
  | { readonly instance: string; readonly items?: never }
  | { readonly items: readonly number[]; readonly instance?: never };

type Said<T> = { readonly [K in keyof T]?: T[K] | undefined };

function ofGroup(said: Said<GroupConfig>): ConfigChange {
  return {
    instances: [],
    items: [],
    apply: (config) => withoutUnsaid({ ...config, ...said } as GroupConfig),
  };
}

function ofItems(items: readonly number[], said: Said<ItemConfig>): ConfigChange {
  return {
    instances: [],
    items,
    apply: (config) => ({
      ...config,
      items: { ...config.items, ...merged(config.items, items.map(String), said) },
    }),
  };
}

function ofInstance(id: string, said: Said<InstanceConfig>): ConfigChange {
  return {
    instances: [id],
    items: [],
    apply: (config) => ({
      ...config,
      instances: { ...config.instances, ...merged(config.instances, [id], said) },
    }),
  };
}

function merged<T extends object>(
  before: Readonly<Record<string, T>>,
  keys: readonly string[],
  said: object,
): Record<string, T> {
  return Object.fromEntries(
    keys.map((key) => [key, withoutUnsaid({ ...before[key], ...said } as T)]),
  );
}

/** What becomes undefined says nothing any more. */
function withoutUnsaid<T extends object>(settings: T): T {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as T;
}

/** JSON has no such numbers: said here, since they would be read back as null. */
function finite(key: string, value: number | undefined): number | undefined {
  if (value === undefined || Number.isFinite(value)) return value;
  throw new InvalidConfigError(`${key} is ${value}, expected a number`);
}

export const setTotal = (total: number | 'instances'): ConfigChange =>
  ofGroup({ total: total === 'instances' ? total : finite('total', total)! });

export const setStrategy = (strategy: string): ConfigChange => ofGroup({ strategy });

export const setPaused = (paused: boolean): ConfigChange => ofGroup({ paused });

/** Undefined: no label. */
export const setSpread = (spreadOver: string | undefined): ConfigChange => ofGroup({ spreadOver });

/** Undefined: no limit. */
export const setLimit = (maxMoves: GroupConfig['maxMoves']): ConfigChange => ofGroup({ maxMoves });

/** Undefined takes it away again. */
export const setParam = (items: readonly number[], parameter: unknown): ConfigChange =>
  ofItems(items, { parameter });

/** Undefined takes them away again. */
export const setNeeds = (items: readonly number[], needs: ItemConfig['needs']): ConfigChange =>
  ofItems(items, { needs: needs && Object.keys(needs).length > 0 ? needs : undefined });

export const setPin = (items: readonly number[], instance: string | undefined): ConfigChange => ({
  ...ofItems(items, { pin: instance }),
  instances: instance === undefined ? [] : [instance],
});

/** Undefined: as heavy as any other item, or as the instance says of itself. */
export function setWeight(target: ShardingTarget, weight: number | undefined): ConfigChange {
  const said = { weight: finite('the weight', weight) };
  return target.items ? ofItems(target.items, said) : ofInstance(target.instance, said);
}

export function setDisabled(target: ShardingTarget, isDisabled: boolean): ConfigChange {
  const said = { disabled: isDisabled || undefined };
  return target.items ? ofItems(target.items, said) : ofInstance(target.instance, said);
}

export const setCordoned = (instance: string, isCordoned: boolean): ConfigChange =>
  ofInstance(instance, { cordoned: isCordoned || undefined });

export const setDrained = (instance: string, isDrained: boolean): ConfigChange =>
  ofInstance(instance, { drained: isDrained || undefined });

/** One change after the other. */
export function together(changes: readonly ConfigChange[]): ConfigChange {
  return {
    instances: changes.flatMap(({ instances }) => instances),
    items: changes.flatMap(({ items }) => items),
    apply: (config) => changes.reduce((changed, change) => change.apply(changed), config),
  };
}
