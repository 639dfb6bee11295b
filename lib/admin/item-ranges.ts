import { MAX_TOTAL } from '../coordinator/group-config.js';

/** Items as people write them: `0-3, 7`. The numbers have to be sorted. */
export function formatItems(items: readonly number[]): string {
  return [...rangesOf(items)].join(', ');
}

function* rangesOf(items: readonly number[]): Generator<string> {
  for (let from = 0; from < items.length;) {
    let to = from;
    while (items[to + 1] === items[to]! + 1) to += 1;
    yield from === to ? `${items[from]}` : `${items[from]}-${items[to]}`;
    from = to + 1;
  }
}

/** One range of `parseItems`, with its ends. */
const RANGE = /^(\d{1,7})(?:-(\d{1,7}))?$/;

/** The numbers of `0-3,7`, sorted and each once; undefined for anything else. */
export function parseItems(text: string): number[] | undefined {
  const ranges: (readonly [from: number, to: number])[] = [];
  for (const part of text.split(',')) {
    const [, from, to = from] = RANGE.exec(part.trim()) ?? [];
    if (from === undefined || Number(to) < Number(from)) return undefined;
    if (Number(to) >= MAX_TOTAL) return undefined;
    ranges.push([Number(from), Number(to)]);
  }
  // In their order, so that none has to be asked whether it is there already: there may be a million.
  const items: number[] = [];
  let next = 0;
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    for (let item = Math.max(from, next); item <= to; item++) items.push(item);
    next = Math.max(next, to + 1);
  }
  return items;
}

/** The same, cut after so many characters: `0-3, 7, … (120 items)`. */
export function formatSomeItems(items: readonly number[], most = 100): string {
  let text = '';
  for (const range of rangesOf(items)) {
    const longer = text === '' ? range : `${text}, ${range}`;
    if (longer.length > most) return `${text}, … (${items.length} items)`;
    text = longer;
  }
  return text;
}
