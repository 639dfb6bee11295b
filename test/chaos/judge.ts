import type { Holding } from '../e2e/recording.js';
import { check, type Violation } from '../simulation/checker.js';
import type { Event, History } from '../simulation/history.js';
import type { KeptWrite } from './fenced-store.js';

/** A fault that happened. */
export interface FaultRecord {
  readonly name: string;
  readonly victims: string;
  readonly begun: number;
  /** When its cause was gone; undefined while it lasts. */
  ended?: number;
}

/** Nobody owned the item from then till then, by what was answered. */
export interface Gap {
  readonly item: number;
  readonly from: number;
  readonly to: number;
}

export const OVERLAP = 'a shard is never held by two';
export const EARLY_SUCCESSOR = 'nobody writes before its predecessor is done';
export const WEDGE = 'nothing wedges';

/** The simulation's checker, and what only a real store can show of those who kept to the rules. */
export function judge(history: History, orderly: ReadonlySet<string>): Violation[] {
  return [...check(history), ...earlySuccessors(history, orderly)].toSorted(
    (a, b) => a.time - b.time,
  );
}

/**
 * Whoever drains in time writes until it says that it is done: if the store refuses that, its successor
 * was there too soon.
 */
function earlySuccessors(history: History, orderly: ReadonlySet<string>): Violation[] {
  return history.flatMap((event) => {
    if (event.kind !== 'write' || event.accepted || !orderly.has(event.who)) return [];
    const { item, who, token, time } = event;
    const text = `${who}, still at work, could not write item ${item} with token ${token}`;
    return [{ time, rule: EARLY_SUCCESSOR, text }];
  });
}

/** Of many writes by the same holder in a row the first and the last say it all. */
export class WriteLog {
  readonly #events: Event[] = [];
  /** For each item, where its run of equal writes ends. */
  readonly #runs = new Map<number, { key: string; last?: number }>();
  accepted = 0;
  refused = 0;

  get events(): readonly Event[] {
    return this.#events;
  }

  add(writes: readonly KeptWrite[]): void {
    for (const write of writes) {
      if (write.accepted) this.accepted += 1;
      else this.refused += 1;
      const { item } = write;
      const key = `${write.who} ${write.token} ${write.accepted}`;
      const run = this.#runs.get(item);
      const event: Event = { kind: 'write', ...write };
      if (run?.key === key) {
        run.last ??= this.#events.length;
        this.#events[run.last] = event;
      } else {
        this.#runs.set(item, { key });
        this.#events.push(event);
      }
    }
  }
}

/** An app says every so often that nothing has changed: its last word may be as old as that. */
const BEAT = 50;

/** The times between two holdings within the window, of items below the limit. */
export function gapsWithin(
  holdings: readonly Holding[],
  from: number,
  to: number,
  limit: number,
): Gap[] {
  const spans = holdings.filter(({ item }) => item < limit);
  const owned = new Map<number, number>();
  const gaps: Gap[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const since = owned.get(span.item);
    if (since !== undefined && since >= from - BEAT && span.from <= to && span.from > since) {
      gaps.push({ item: span.item, from: since, to: span.from });
    }
    owned.set(span.item, Math.max(since ?? span.to, span.to));
  }
  return gaps;
}

/** What a fault sets off may come a moment after its end. */
const AFTERMATH = 1_000;

/** The longest gaps of a kind of fault: with no other fault meanwhile, and with others. */
export interface LongestGap {
  readonly alone: number;
  readonly amongOthers: number;
}

/**
 * The longest gaps of each kind of fault. A gap counts for the faults that lasted when it began, or had
 * just ended; where there are none, for the one that began last. Faults at the same time share it.
 */
export function longestGaps(
  gaps: readonly Gap[],
  faults: readonly FaultRecord[],
): Map<string, LongestGap> {
  const longest = new Map<string, LongestGap>();
  for (const gap of gaps) {
    const length = gap.to - gap.from;
    const guilty = culprits(gap, faults);
    const later = faults.some(({ begun }) => begun > gap.from + BEAT && begun <= gap.to);
    const found =
      guilty.length === 1 && !later
        ? { alone: length, amongOthers: 0 }
        : { alone: 0, amongOthers: length };
    for (const { name } of guilty) longest.set(name, longer(longest.get(name), found));
  }
  return longest;
}

export function longer(one: LongestGap | undefined, other: LongestGap): LongestGap {
  return {
    alone: Math.max(one?.alone ?? 0, other.alone),
    amongOthers: Math.max(one?.amongOthers ?? 0, other.amongOthers),
  };
}

function culprits({ from }: Gap, faults: readonly FaultRecord[]): readonly FaultRecord[] {
  const begun = faults.filter((fault) => fault.begun <= from + BEAT);
  const lasting = begun.filter(({ ended = Infinity }) => ended + AFTERMATH >= from);
  return lasting.length > 0 ? lasting : begun.slice(-1);
}
