/** What an instance answered when it was asked, item by item, whether it owns it. */
export interface Look {
  readonly at: number;
  /** When it was asked the time before: what it denies now, it may have owned until then. */
  readonly before: number;
  readonly items: readonly number[];
  /** How often it was asked since its last look that was passed on, and the longest time in between. */
  readonly times: number;
  readonly longestPause: number;
}

/** A stretch of time over which one instance said that it owns an item: from the first to the last yes. */
interface Span {
  readonly who: string;
  readonly from: number;
  to: number;
  isOpen: boolean;
}

export interface Overlap {
  readonly item: number;
  readonly holders: readonly [string, string];
  readonly milliseconds: number;
}

export interface Findings {
  /** Grants of items that somebody had before. */
  readonly moves: number;
  /** The longest time between one owner's last yes and the next one's first. */
  readonly longestGap: number;
}

/** Keeps everybody's answers, on one clock, and finds out what nobody promised to tell. */
export class Audit {
  readonly #spans: Span[][];
  #questions = 0;
  #longestPause = 0;

  constructor(readonly total: number) {
    this.#spans = Array.from({ length: total }, () => []);
  }

  look(who: string, { at, before, items, times, longestPause }: Look): void {
    this.#questions += times;
    this.#longestPause = Math.max(this.#longestPause, longestPause);
    const owned = new Set(items);
    for (const [item, spans] of this.#spans.entries()) {
      const open = spans.find((span) => span.isOpen && span.who === who);
      if (open) {
        open.isOpen = owned.has(item);
        open.to = Math.max(open.to, open.isOpen ? at : before);
      } else if (owned.has(item)) {
        spans.push({ who, from: at, to: at, isOpen: true });
      }
    }
  }

  /** It cannot be asked any more, or not for a while: until then it may have said yes. */
  gone(who: string, at: number): void {
    this.look(who, { at, before: at, items: [], times: 0, longestPause: 0 });
  }

  /** How often an instance was asked for all items. */
  get questions(): number {
    return this.#questions;
  }

  /** The longest time between two questions to the same instance while it could be asked. */
  get longestPause(): number {
    return this.#longestPause;
  }

  /** Those who own the item by their latest answers. */
  holders(item: number): string[] {
    return this.#spans[item]!.filter(({ isOpen }) => isOpen).map(({ who }) => who);
  }

  /** Since when this holder has had the item. */
  heldSince(item: number, who: string): number | undefined {
    return this.#spans[item]!.find((span) => span.isOpen && span.who === who)?.from;
  }

  /** Two said yes at the same time. */
  get overlaps(): Overlap[] {
    return this.#spans.flatMap((spans, item) => {
      const found: Overlap[] = [];
      let latest: Span | undefined;
      for (const span of inOrder(spans)) {
        if (latest && span.from <= latest.to) {
          const milliseconds = Math.min(latest.to, span.to) - span.from;
          found.push({ item, holders: [latest.who, span.who], milliseconds });
        }
        if (!latest || span.to > latest.to) latest = span;
      }
      return found;
    });
  }

  /** What happened between two moments. */
  between(start: number, end: number): Findings {
    let moves = 0;
    let longestGap = 0;
    for (const spans of this.#spans) {
      let lastYes: number | undefined;
      for (const { from, to } of inOrder(spans)) {
        if (lastYes !== undefined && from >= start && from <= end) {
          moves += 1;
          longestGap = Math.max(longestGap, from - lastYes);
        }
        lastYes = Math.max(lastYes ?? to, to);
      }
    }
    return { moves, longestGap };
  }
}

function inOrder(spans: readonly Span[]): Span[] {
  return spans.toSorted((a, b) => a.from - b.from);
}
