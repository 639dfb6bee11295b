import { MAX_TOTAL } from '../coordinator/group-config.js';

/** Items as people write them: `0-3, 7`. The numbers have to be sorted. */
export function formatItems(items: readonly number[]): string {
  const ranges: string[] = [];
  for (let from = 0; from < items.length;) {
    let to = from;
    while (items[to + 1] === items[to]! + 1) to += 1;
    ranges.push(from === to ? `${items[from]}` : `${items[from]}-${items[to]}`);
    from = to + 1;
  }
  return ranges.join(', ');
}

/** One range of `parseItems`, with its ends. */
const RANGE = /^(\d{1,7})(?:-(\d{1,7}))?$/;

/** The numbers of `0-3,7`, sorted and each once; undefined for anything else. */
export function parseItems(text: string): number[] | undefined {
  const items = new Set<number>();
  for (const part of text.split(',')) {
    const [, from, to = from] = RANGE.exec(part.trim()) ?? [];
    if (from === undefined || Number(to) < Number(from)) return undefined;
    if (Number(to) >= MAX_TOTAL) return undefined;
    for (let item = Number(from); item <= Number(to); item++) items.add(item);
  }
  return [...items].toSorted((a, b) => a - b);
}

/** The same, cut after so many characters: `0-3, 7, … (120 items)`. */
export function formatSomeItems(items: readonly number[], most = 100): string {
  const all = formatItems(items);
  if (all.length <= most) return all;
  return `${all.slice(0, all.lastIndexOf(',', most))}, … (${items.length} items)`;
}
