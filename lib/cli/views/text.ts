import { stripVTControlCharacters } from 'node:util';

/** What others wrote into the store must not move the cursor of whoever reads it. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return stripVTControlCharacters(text).replace(/[\u0000-\u001f\u007f-\u009f]/g, '�');
}

/** At most so many characters: ids differ at their ends, so the middle goes. */
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
