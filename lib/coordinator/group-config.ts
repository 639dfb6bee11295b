/** What all instances of a group share, kept in `/config`. @publicApi */
export interface GroupConfig {
  readonly total: number | 'instances';
  readonly strategy: string;
  /** What is said of single items, by number. */
  readonly items: Readonly<Record<number, ItemConfig>>;
  /** What is said of single instances, by id; they need not be there. */
  readonly instances: Readonly<Record<string, InstanceConfig>>;
  /** The key of a label, such as `zone`, over whose values items are spread first. */
  readonly spreadOver?: string;
  /** Nothing that is held moves; what is free, as of those who went, is given out all the same. */
  readonly paused: boolean;
  /** How many items may be on the move at once, or which share of them, as in `"25%"`. */
  readonly maxMoves?: number | `${number}%`;
}

/** What is said of an item. Left out: nothing is. @publicApi */
export interface ItemConfig {
  /** Handed to whoever holds it, as it is. */
  readonly parameter?: unknown;
  /** How heavy it is; others weigh 1. */
  readonly weight?: number;
  /** The labels that an instance must have to hold it. */
  readonly needs?: Readonly<Record<string, string>>;
  /** The instance that is to hold it, as long as that one can. */
  readonly pin?: string;
  /** Nobody holds it. */
  readonly disabled?: boolean;
}

/** What is said of an instance. Left out: nothing is. @publicApi */
export interface InstanceConfig {
  /** In place of the one it brings along. */
  readonly weight?: number;
  /** It holds nothing. */
  readonly disabled?: boolean;
  /** It holds nothing, because it is about to be taken away. */
  readonly drained?: boolean;
  /** It keeps what it has and gets nothing new. */
  readonly cordoned?: boolean;
}

/** The most items a group can have: what a plan of bounded size can name. */
export const MAX_TOTAL = 1_000_000;
/** A larger document is not written: the store refuses nodes of 1 MB. */
const MAX_CONFIG_BYTES = 900_000;
const VERSION = 1;

/**
 * A configuration that is not one: the message names the key, its value, and what would be right.
 * @publicApi
 */
export class InvalidConfigError extends Error {
  override readonly name = 'InvalidConfigError';
}

/** What a group begins with. */
export function newConfig(total: number | 'instances', strategy: string): GroupConfig {
  return { total, strategy, items: {}, instances: {}, paused: false };
}

/**
 * JSON with two spaces, since people look at it with ZooKeeper's own shell. Whatever says nothing is left
 * out. Throws `InvalidConfigError` for what could not be read again.
 */
export function encodeConfig(config: GroupConfig): Buffer {
  const { total, strategy, items, instances, spreadOver, paused, maxMoves } = config;
  const document = {
    version: VERSION,
    total,
    strategy,
    ...(spreadOver === undefined ? {} : { spreadOver }),
    ...(paused ? { paused } : {}),
    ...(maxMoves === undefined ? {} : { maxMoves }),
    ...section('items', items),
    ...section('instances', instances),
  };
  const data = Buffer.from(JSON.stringify(document, null, 2));
  if (data.length > MAX_CONFIG_BYTES) {
    throw new InvalidConfigError(
      `it takes ${data.length} bytes, and a node may have ${MAX_CONFIG_BYTES}; say less of single items`,
    );
  }
  decodeConfig(data);
  return data;
}

function section<T extends object>(key: string, said: Readonly<Record<string, T>>): object {
  const telling = Object.entries(said).filter(([, settings]) => Object.keys(settings).length > 0);
  return telling.length === 0 ? {} : { [key]: Object.fromEntries(telling) };
}

/**
 * Reads a configuration, or throws `InvalidConfigError`. Unknown keys are refused: what somebody
 * mistyped would otherwise do nothing, without a word.
 */
export function decodeConfig(data: Buffer): GroupConfig {
  let raw: unknown;
  try {
    raw = JSON.parse(data.toString());
  } catch {
    throw new InvalidConfigError('it is not JSON');
  }
  const document = fields('the document', raw, [
    'version',
    'total',
    'strategy',
    'items',
    'instances',
    'spreadOver',
    'paused',
    'maxMoves',
  ]);
  const { version, total, strategy, items, instances, spreadOver, paused, maxMoves } = document;
  if (version !== VERSION) throw unexpected('version', version, String(VERSION));
  if (!isTotal(total)) {
    throw unexpected('total', total, `a whole number from 1 to ${MAX_TOTAL} or "instances"`);
  }
  if (!isName(strategy)) throw unexpected('strategy', strategy, 'a name');
  if (!isMoveLimit(maxMoves)) {
    throw unexpected('maxMoves', maxMoves, 'a whole number from 1, or a share from "1%" to "100%"');
  }
  return {
    total,
    strategy,
    items: Object.fromEntries(entries('items', items).map(checkItem)),
    instances: Object.fromEntries(entries('instances', instances).map(checkInstance)),
    ...(optional('spreadOver', spreadOver, isName, 'the key of a label')
      ? { spreadOver: spreadOver as string }
      : {}),
    paused: optional('paused', paused, isBoolean, 'true or false') && paused === true,
    ...(maxMoves === undefined ? {} : { maxMoves }),
  };
}

/** How many of so many items may be on the move at once: at least one, or nothing would ever move. */
export function moveLimit({ maxMoves }: GroupConfig, total: number): number {
  if (maxMoves === undefined) return Infinity;
  if (typeof maxMoves === 'number') return maxMoves;
  return Math.max(1, Math.floor((total * Number.parseFloat(maxMoves)) / 100));
}

export function isTotal(value: unknown): value is number | 'instances' {
  if (value === 'instances') return true;
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_TOTAL;
}

function checkItem([item, settings]: [string, unknown]): [string, ItemConfig] {
  const key = `items.${item}`;
  if (!/^(0|[1-9]\d{0,6})$/.test(item) || Number(item) >= MAX_TOTAL) {
    throw new InvalidConfigError(`${key} is not the number of an item, from 0 to ${MAX_TOTAL - 1}`);
  }
  const said = fields(key, settings, ['parameter', 'weight', 'needs', 'pin', 'disabled']);
  const { weight, needs, pin, disabled } = said;
  optional(`${key}.weight`, weight, isPositive, 'a number greater than 0');
  optional(`${key}.needs`, needs, isLabels, 'an object with a string for each label');
  optional(`${key}.pin`, pin, isName, 'the id of an instance');
  optional(`${key}.disabled`, disabled, isBoolean, 'true or false');
  return [item, said];
}

function checkInstance([id, settings]: [string, unknown]): [string, InstanceConfig] {
  const key = `instances.${id}`;
  if (id === '' || id.includes('/')) {
    throw new InvalidConfigError(`${key} is not the id of an instance`);
  }
  const said = fields(key, settings, ['weight', 'disabled', 'drained', 'cordoned']);
  optional(`${key}.weight`, said['weight'], isWeight, 'a number from 0');
  for (const flag of ['disabled', 'drained', 'cordoned']) {
    optional(`${key}.${flag}`, said[flag], isBoolean, 'true or false');
  }
  return [id, said];
}

type Fields = Readonly<Record<string, unknown>>;

function fields(key: string, value: unknown, known: readonly string[]): Fields {
  if (!isObject(value)) throw unexpected(key, value, `an object with ${known.join(', ')}`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new InvalidConfigError(
      `${key} has the unknown key ${JSON.stringify(unknown)}; known are ${known.join(', ')}`,
    );
  }
  return value;
}

function entries(key: string, value: unknown): [string, unknown][] {
  if (value === undefined) return [];
  if (!isObject(value)) throw unexpected(key, value, 'an object');
  return Object.entries(value);
}

/** Whether it was given; throws if it was, and is not what it should be. */
function optional(
  key: string,
  value: unknown,
  isExpected: (value: unknown) => boolean,
  expected: string,
): boolean {
  if (value === undefined) return false;
  if (!isExpected(value)) throw unexpected(key, value, expected);
  return true;
}

function unexpected(key: string, value: unknown, expected: string): InvalidConfigError {
  const shown = JSON.stringify(value) ?? 'missing';
  const short = shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
  return new InvalidConfigError(`${key} is ${short}, expected ${expected}`);
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isWeight = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;
const isPositive = (value: unknown): boolean => isWeight(value) && (value as number) > 0;
const isLabels = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((label) => typeof label === 'string');

function isMoveLimit(value: unknown): value is GroupConfig['maxMoves'] {
  if (value === undefined) return true;
  if (typeof value === 'number') return Number.isInteger(value) && value >= 1;
  const share = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  return share !== undefined && Number(share) >= 1 && Number(share) <= 100;
}
