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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const lost = numbersIn(text).find((number) => !survives(number));
  if (lost === undefined) return value;
  throw new UsageError(
    `the number ${lost} has more digits than JSON's numbers keep; write it as a text, in double quotes: '"${lost}"'`,
  );
}

/** Of a JSON document, outside of its texts. */
function numbersIn(json: string): string[] {
  const [texts, numbers] = [/"(?:[^"\\]|\\.)*"/g, /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi];
  return json.replaceAll(texts, '""').match(numbers) ?? [];
}

const survives = (number: string): boolean => {
  const value = Number(number);
  return Number.isFinite(value) && canonical(String(value)) === canonical(number);
};

/** Its digits and where the point is, the same for `1.50`, `1.5` and `15e-1`. */
function canonical(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return significant === '' ? '0' : `${significant}e${power}`;
}

export function limitOfHistory(text = '10'): number {
  const limit = numberOf('--limit', text);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit is ${text}, expected a whole number from 1`);
}

/** No timer runs for longer than 2^31 ms. */
const MOST_SECONDS = 2_000_000;

/** In milliseconds; undefined stays so. */
export function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = numberOf('--timeout', text);
  if (seconds < 0 || seconds > MOST_SECONDS) {
    throw new UsageError(`--timeout is ${text}, expected seconds from 0 to ${MOST_SECONDS}`);
  }
  return seconds * 1_000;
}
