import { stripVTControlCharacters } from 'node:util';

/** What others wrote into the store must not move the cursor of whoever reads it. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return stripVTControlCharacters(text).replace(/[\u0000-\u001f\u007f-\u009f]/g, '�');
}

/** Breaks words that are longer than a line after one of their signs, such as ids and labels. */
export function fold(text: string, width: number): string {
  return text
    .split(' ')
    .map((word) => (word.length > width ? foldWord(word, width) : word))
    .join(' ');
}

function foldWord(word: string, width: number): string {
  const lines = [''];
  for (const part of word.match(/[\p{L}\p{N}]*[^\p{L}\p{N}]*/gu) ?? []) {
    if (lines.at(-1) !== '' && lines.at(-1)!.length + part.length > width) lines.push('');
    lines[lines.length - 1] += part;
  }
  return lines.join('\n');
}

/** At most so many characters, without its middle. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  const tail = most - 1 - head;
  return `${text.slice(0, head)}…${tail > 0 ? text.slice(-tail) : ''}`;
}

/** `1 item`, `2 items`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** `1.5 s`, or `12 ms` where it is short. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${Number((milliseconds / 1_000).toFixed(1))} s`;
}

/** In the local time of whoever looks, in an order that sorts. */
export function time(at: number): string {
  const date = new Date(at);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${clock(at)}`;
}

export function clock(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
