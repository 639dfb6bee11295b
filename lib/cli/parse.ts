import { parseItems } from '../admin/item-ranges.js';
import type { JoiningInstance } from '../admin/predict.js';
import type { GroupConfig } from '../coordinator/group-config.js';
import { UsageError } from './exit-codes.js';

/** Numbers only as people write them: `Number` alone would take '', '0x10' and '1e3' as well. */
const NUMBER = /^[+-]?(\d+(\.\d+)?|\.\d+)$/;

export function numberOf(what: string, text: string): number {
  if (NUMBER.test(text)) return Number(text);
  throw new UsageError(`${what} is ${JSON.stringify(text)}, expected a number`);
}

export function totalOf(text: string): number | 'instances' {
  return text === 'instances' ? text : numberOf('the total', text);
}

export function itemsOf(text: string): number[] {
  const items = parseItems(text);
  if (items) return items;
  throw new UsageError(
    `${JSON.stringify(text)} names no items, expected numbers and ranges such as 0-3,7`,
  );
}

export function limitOf(text: string): GroupConfig['maxMoves'] {
  return /^\d+%$/.test(text) ? (text as `${number}%`) : numberOf('the limit', text);
}

/** `zone=a` or `zone=a,disk=ssd`, in one argument or in several. */
export function labelsOf(texts: readonly string[]): Record<string, string> {
  const pairs = texts.flatMap((text) => text.split(','));
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
      if (key !== undefined && value !== undefined) return [key, value];
      throw new UsageError(`${JSON.stringify(pair)} is no label, expected something like zone=a`);
    }),
  );
}

/** `id`, or `id=weight`. */
export function joiningOf(text: string): JoiningInstance {
  if (!text.includes('=')) return { id: text };
  const [id, weight] = weightOf(text);
  return { id, weight };
}

/** `id=weight`; an id may have such a sign itself. */
export function weightOf(text: string): [string, number] {
  const [, id, weight] = /^(.+)=([^=]*)$/s.exec(text) ?? [];
  if (id === undefined || weight === undefined) {
    throw new UsageError(`${JSON.stringify(text)} is no weight, expected something like ada=2`);
  }
  return [id, numberOf(`the weight of ${id}`, weight)];
}

/** JSON where it is JSON, else the text as it is: `7`, `{"from":1}`, `"7"`, `eu-west`. */
export function parameterOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** In milliseconds; undefined stays so. */
export function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = numberOf('--timeout', text);
  if (seconds < 0) throw new UsageError(`--timeout is ${seconds}, expected seconds from 0`);
  return seconds * 1_000;
}
