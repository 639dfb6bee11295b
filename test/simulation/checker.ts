import type { Event, History } from './history.js';

export interface Violation {
  readonly time: number;
  readonly rule: string;
  readonly text: string;
}

export function describeViolation({ time, rule, text }: Violation): string {
  return `${time.toFixed(1)} ms: ${rule}: ${text}`;
}

type Of<K extends Event['kind']> = Extract<Event, { kind: K }>;

export const STALE_WRITE = 'no stale write is accepted';
export const MISTAKE = 'the code makes no mistake of its own';
const IN_ORDER = 'hooks run in order and in pairs';

/** Whether an error says that code is written wrong, and nothing of what it does. */
export function isMistake(error: string): boolean {
  return /\b(?:ReferenceError|SyntaxError): |\bTypeError: .* is not a function/.test(error);
}

/** Whether a process has come to its end. */
function isOver(event: Event): event is Of<'died' | 'left'> {
  return event.kind === 'died' || event.kind === 'left';
}

/** One holding, by whoever has it. */
function holdingOf({ who, item, token }: { who: string; item: number; token: bigint }): string {
  return `${who} ${item} ${token}`;
}

/**
 * Judges a history by the guarantee alone. It knows nothing of the implementation: only who said when
 * that it owns or leads, which hooks ran, and what a fenced resource accepted.
 */
export function check(history: History): Violation[] {
  const spans = holdingSpans(history);
  return [
    ...overlaps(spans),
    ...mixedTotals(spans),
    ...mixedWork(history),
    ...revivals(history),
    ...tokensThatDoNotRise(history),
    ...twoLeaders(history),
    ...termsThatDoNotRise(history),
    ...hooksOutOfOrder(history),
    ...staleWrites(history),
    ...returningWriters(history),
    ...workAfterItsEnd(history),
    ...heldOtherwiseThanTold(history),
    ...only(history, 'contradiction').map(({ time, who, text }) => ({
      ...{ time, rule: 'all answers agree', text: `${who} ${text}` },
    })),
    ...exercisesGoneWrong(history),
    ...only(history, 'note')
      .filter(({ text }) => isMistake(text))
      .map(({ time, text }) => ({ time, rule: MISTAKE, text })),
    ...only(history, 'stuck').map(({ time, text }) => ({ time, rule: 'nothing wedges', text })),
  ].toSorted((a, b) => a.time - b.time);
}

/**
 * No item is owned by two. Each "yes" counts from the first to the last of one holding, so that it does
 * not matter who was asked when in between.
 */
function overlaps(spans: Spans): Violation[] {
  const violations: Violation[] = [];
  for (const [item, holdings] of spans) {
    const ordered = holdings.toSorted((a, b) => a.from - b.from);
    let latest = ordered[0];
    for (const holding of ordered.slice(1)) {
      if (latest && holding.from <= latest.to && holding.who !== latest.who) {
        violations.push({
          time: holding.from,
          rule: 'a shard is never held by two',
          text:
            `item ${item}: ${holding.who} (token ${holding.token}) from ${holding.from.toFixed(1)} while ` +
            `${latest.who} (token ${latest.token}) until ${latest.to.toFixed(1)}`,
        });
      }
      if (!latest || holding.to > latest.to) latest = holding;
    }
  }
  return violations;
}

interface Span {
  readonly who: string;
  readonly token: bigint;
  readonly total: number;
  readonly from: number;
  to: number;
}

type Spans = ReadonlyMap<number, Span[]>;

function holdingSpans(history: History): Spans {
  const spans = new Map<number, Span[]>();
  for (const { who, item, token, total, time } of only(history, 'owns')) {
    const holdings = spans.get(item) ?? [];
    spans.set(item, holdings);
    const last = holdings.findLast((span) => span.who === who && span.token === token);
    if (last) last.to = time;
    else holdings.push({ who, token, total, from: time, to: time });
  }
  return spans;
}

/** Nobody works under two totals at once. */
function mixedTotals(spans: Spans): Violation[] {
  const all = [...spans.entries()]
    .flatMap(([item, holdings]) => holdings.map((span) => ({ ...span, item })))
    .toSorted((a, b) => a.from - b.from);
  const violations: Violation[] = [];
  const latest = new Map<number, Span>();
  for (const span of all) {
    for (const [total, other] of latest) {
      if (total === span.total || other.to < span.from) continue;
      violations.push({
        time: span.from,
        rule: 'nobody works under two totals at once',
        text: `${span.who} under ${span.total} while ${other.who} under ${other.total}`,
      });
    }
    const same = latest.get(span.total);
    if (!same || same.to < span.to) latest.set(span.total, span);
  }
  return violations;
}

/** Nor does one process begin work of a total while it still ends work of another. */
function mixedWork(history: History): Violation[] {
  const working = new Map<string, Map<number, Of<'acquired'>>>();
  const violations: Violation[] = [];
  for (const event of history) {
    if (isOver(event)) working.delete(event.who);
    if (event.kind === 'released') working.get(event.who)?.delete(event.item);
    if (event.kind !== 'acquired') continue;
    const { who, item, total, time } = event;
    const own = working.get(who) ?? new Map<number, Of<'acquired'>>();
    working.set(who, own);
    for (const other of own.values()) {
      if (other.total === total) continue;
      const text = `${who} begins item ${item} of ${total} before item ${other.item} of ${other.total} has ended`;
      violations.push({ time, rule: 'nobody works under two totals at once', text });
    }
    own.set(item, event);
  }
  return violations;
}

/** Whoever once said that it holds or leads no more does not say so again without a new token or term. */
function revivals(history: History): Violation[] {
  const over = new Set<string>();
  const violations: Violation[] = [];
  const revive = (time: number, claim: string): void => {
    if (over.delete(claim)) {
      violations.push({ time, rule: 'what is lost is not taken up again', text: claim });
    }
  };
  for (const event of history) {
    switch (event.kind) {
      case 'disowns':
        over.add(`${event.who} holds item ${event.item} with token ${event.token}`);
        break;
      case 'owns':
        revive(event.time, `${event.who} holds item ${event.item} with token ${event.token}`);
        break;
      case 'leads-no-more':
        over.add(`${event.who} leads`);
        break;
      case 'leads':
        revive(event.time, `${event.who} leads`);
        break;
      case 'leader':
        over.delete(`${event.who} leads`);
        break;
      case 'stepped':
        // Set ahead, a clock makes a lease look over that is not; set back again, it does not any more.
        over.clear();
        break;
      default:
    }
  }
  return violations;
}

function tokensThatDoNotRise(history: History): Violation[] {
  const highest = new Map<number, bigint>();
  const violations: Violation[] = [];
  for (const { time, who, item, token } of only(history, 'acquired')) {
    const before = highest.get(item);
    if (before !== undefined && token <= before) {
      violations.push({
        time,
        rule: 'tokens rise with every holding',
        text: `${who} acquired item ${item} with token ${token} after ${before}`,
      });
    } else highest.set(item, token);
  }
  return violations;
}

/** At most one says that it leads; counted from the first to the last "yes" of one term. */
function twoLeaders(history: History): Violation[] {
  const violations: Violation[] = [];
  const spans: { who: string; from: number; to: number }[] = [];
  const current = new Map<string, { who: string; from: number; to: number }>();
  for (const event of history) {
    if (event.kind === 'leader-lost' || isOver(event)) current.delete(event.who);
    if (event.kind !== 'leads' && event.kind !== 'leader') continue;
    const open = current.get(event.who);
    if (open && event.kind === 'leads') open.to = event.time;
    else {
      const span = { who: event.who, from: event.time, to: event.time };
      current.set(event.who, span);
      spans.push(span);
    }
  }
  let latest: (typeof spans)[number] | undefined;
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    if (latest && latest.who !== span.who && span.from <= latest.to) {
      violations.push({
        time: span.from,
        rule: 'at most one leader',
        text: `${span.who} from ${span.from.toFixed(1)} while ${latest.who} until ${latest.to.toFixed(1)}`,
      });
    }
    if (!latest || span.to > latest.to) latest = span;
  }
  return violations;
}

function termsThatDoNotRise(history: History): Violation[] {
  let highest = -1n;
  return only(history, 'leader').flatMap(({ time, who, term }) => {
    if (term > highest) {
      highest = term;
      return [];
    }
    return [{ time, rule: 'terms rise', text: `${who} leads with term ${term} after ${highest}` }];
  });
}

/**
 * Hooks in pairs: a release for each acquisition, a start before each completion. And in order: first
 * a shard is not owned, then its worker is told, and its release comes when that has had its time.
 */
function hooksOutOfOrder(history: History): Violation[] {
  const violations: Violation[] = [];
  const held = new Map<string, bigint>();
  const working = new Set<string>();
  const told = new Map<string, Of<'told'>>();
  // Real processes do not say when their workers end: a log line more for each would disturb them.
  const isWorkKnown = history.some(({ kind }) => kind === 'told' || kind === 'ended');
  const rebalancing = new Set<string>();
  const leading = new Set<string>();
  /** Whose signal has fired, and who has not been told since that a rebalance started. */
  const unannounced = new Set<string>();
  const report = (time: number, text: string): void => {
    violations.push({ time, rule: IN_ORDER, text });
  };
  for (const event of history) {
    switch (event.kind) {
      case 'acquired': {
        const key = `${event.who} ${event.item}`;
        if (held.has(key)) report(event.time, `${key} acquired again before its release`);
        held.set(key, event.token);
        working.add(`${key} ${event.token}`);
        break;
      }
      case 'told': {
        const key = `${event.who} ${event.item} ${event.token}`;
        if (event.isOwned) report(event.time, `${key} is owned when its signal fires`);
        told.set(key, event);
        unannounced.add(key);
        break;
      }
      case 'ended':
        working.delete(`${event.who} ${event.item} ${event.token}`);
        break;
      case 'released': {
        const key = `${event.who} ${event.item}`;
        if (held.get(key) !== event.token) report(event.time, `${key} released, but not held so`);
        held.delete(key);
        const worker = `${key} ${event.token}`;
        if (isWorkKnown && working.has(worker) && told.get(worker)?.isInTime !== false) {
          report(event.time, `${worker} released before its worker has ended`);
        }
        const isExcused = event.isLate === true || event.reason === 'shutdown';
        if (unannounced.delete(worker) && !isExcused) {
          report(event.time, `${worker} released before a start was announced`);
        }
        break;
      }
      case 'started':
        rebalancing.add(event.who);
        for (const key of unannounced) if (key.startsWith(`${event.who} `)) unannounced.delete(key);
        break;
      case 'completed':
        if (!rebalancing.delete(event.who))
          report(event.time, `${event.who} completed, not started`);
        break;
      case 'leader':
        if (leading.has(event.who)) report(event.time, `${event.who} leads twice`);
        leading.add(event.who);
        break;
      case 'leader-lost':
        if (!leading.delete(event.who))
          report(event.time, `${event.who} lost what it did not have`);
        break;
      case 'left':
      case 'died': {
        const isLeft = event.kind === 'left';
        for (const key of held.keys()) {
          if (!key.startsWith(`${event.who} `)) continue;
          if (isLeft) report(event.time, `${key} is not released, and ${event.who} has left`);
          held.delete(key);
        }
        rebalancing.delete(event.who);
        if (leading.delete(event.who) && isLeft) {
          report(event.time, `${event.who} has left, and its leadership has not ended`);
        }
        break;
      }
      default:
    }
  }
  return violations;
}

function staleWrites(history: History): Violation[] {
  const highest = new Map<number, bigint>();
  return only(history, 'write').flatMap(({ time, who, item, token, accepted }) => {
    if (!accepted) return [];
    const before = highest.get(item) ?? 0n;
    if (token >= before) {
      highest.set(item, token);
      return [];
    }
    const text = `${who} wrote item ${item} with token ${token} after ${before}`;
    return [{ time, rule: STALE_WRITE, text }];
  });
}

/**
 * Whoever has written an item after another holder has its successor: nothing of the former one's is
 * accepted any more. Says more than falling tokens do where two holders have the same one.
 */
function returningWriters(history: History): Violation[] {
  const latest = new Map<number, string>();
  const former = new Set<string>();
  return only(history, 'write').flatMap(({ time, who, item, token, accepted }) => {
    if (!accepted) return [];
    const holding = `${who} with token ${token}`;
    const before = latest.get(item);
    latest.set(item, holding);
    if (before === holding) return [];
    if (before !== undefined) former.add(`${item} ${before}`);
    if (!former.has(`${item} ${holding}`)) return [];
    return [{ time, rule: STALE_WRITE, text: `${holding} wrote item ${item} after ${before}` }];
  });
}

/**
 * What was released is not worked on any more, and what the store was told to be free is not held: only
 * a worker that has overrun its time may go on. Where nobody says when workers end nothing is known.
 */
function workAfterItsEnd(history: History): Violation[] {
  const working = new Set<string>();
  const told = new Map<string, Of<'told'>>();
  const released = new Set<string>();
  const free = new Set<string>();
  return history.flatMap((event): Violation[] => {
    const found = (rule: string, text: string): Violation[] => [{ time: event.time, rule, text }];
    if (!('token' in event)) return [];
    const holding = holdingOf(event);
    const isInTime = told.get(holding)?.isInTime === true;
    switch (event.kind) {
      case 'acquired':
        working.add(holding);
        break;
      case 'told':
        told.set(holding, event);
        break;
      case 'ended':
        working.delete(holding);
        break;
      case 'released':
        released.add(holding);
        break;
      case 'write':
        if (isInTime && released.has(holding)) {
          return found(IN_ORDER, `${holding} is written after its release`);
        }
        break;
      case 'owns':
        if (free.has(holding)) return found(FREE, `${holding} is held`);
        break;
      case 'freed':
        free.add(holding);
        if (working.has(holding) && (isInTime || !told.has(holding))) {
          return found(FREE, `${holding} is still worked on`);
        }
        break;
      default:
    }
    return [];
  });
}

const FREE = 'an acknowledged release is never followed by work';

/** At rest everybody holds just what its hooks were given. */
function heldOtherwiseThanTold(history: History): Violation[] {
  const held = new Map<number, Set<string>>();
  const holdersOf = (item: number): Set<string> => {
    const holders = held.get(item) ?? new Set();
    held.set(item, holders);
    return holders;
  };
  return history.flatMap((event) => {
    if (event.kind === 'acquired') holdersOf(event.item).add(event.who);
    if (event.kind === 'released') holdersOf(event.item).delete(event.who);
    if (isOver(event)) for (const holders of held.values()) holders.delete(event.who);
    if (event.kind !== 'exercised' || !event.holders) return [];
    const count = Math.max(event.holders.length, ...[...held.keys()].map((item) => item + 1));
    return Array.from({ length: count }, (_, item) => item).flatMap((item) => {
      const holder = event.holders![item] ?? '-';
      const told = [...(held.get(item) ?? [])].join(' and ') || '-';
      if (told === holder) return [];
      const text = `item ${item} is held by ${holder}, and was given to ${told}`;
      return [{ time: event.time, rule: IN_ORDER, text }];
    });
  });
}

/** In calm times a group does what it is asked for, all of it hears of it, and nothing else moves. */
function exercisesGoneWrong(history: History): Violation[] {
  const violations: Violation[] = [];
  let exercise: Exercise | undefined;
  for (const event of history) {
    if (event.kind === 'exercise') exercise = new Exercise(event);
    else exercise?.regard(event);
    if (event.kind !== 'exercised' || !exercise) continue;
    const { time } = event;
    const faults = exercise.faults(event);
    violations.push(...faults.map(([rule, text]) => ({ time, rule, text })));
  }
  return violations;
}

class Exercise {
  #moves = 0;
  #most = 0;
  readonly #draining = new Set<string>();
  readonly #unheard: Set<string>;
  readonly #disturbed: string[] = [];

  constructor(private readonly wanted: Of<'exercise'>) {
    this.#unheard = new Set(wanted.everyone);
  }

  regard(event: Event): void {
    if (event.kind === 'completed') this.#unheard.delete(event.who);
    if (event.kind === 'told') this.#draining.add(`${event.who} ${event.item}`);
    if (event.kind === 'released') this.#draining.delete(`${event.who} ${event.item}`);
    this.#most = Math.max(this.#most, this.#draining.size);
    if (event.kind !== 'acquired') return;
    this.#moves += 1;
    if (this.wanted.idle?.includes(event.who)) this.#disturbed.push(`${event.who} ${event.item}`);
  }

  faults({ owners }: Of<'exercised'>): [rule: string, text: string][] {
    const { name, moves, foretold, atOnce = Infinity } = this.wanted;
    const faults: [rule: string, text: string][] = [];
    if (moves !== undefined && this.#moves !== moves) {
      const text = `${name}: ${this.#moves} shards found a worker, not ${moves}`;
      faults.push(['only what must move moves', text]);
    }
    if (this.#unheard.size > 0) {
      const text = `${name}: ${[...this.#unheard].join(', ')} did not hear of it`;
      faults.push(['everyone hears of a rebalance', text]);
    }
    if (foretold && owners && foretold.join() !== owners.join()) {
      const text = `${name}: ${owners.join(' ')} instead of ${foretold.join(' ')}`;
      faults.push(['what is foretold happens', text]);
    }
    if (this.#most > atOnce) {
      const text = `${name}: ${this.#most} shards were drained at once, not ${atOnce}`;
      faults.push(['no more move at once than may', text]);
    }
    if (this.#disturbed.length > 0) {
      const text = `${name}: ${this.#disturbed.join(', ')} was acquired`;
      faults.push(['whoever is cordoned gets nothing new', text]);
    }
    return faults;
  }
}

function only<K extends Event['kind']>(history: History, kind: K): Of<K>[] {
  return history.filter((event): event is Of<K> => event.kind === kind);
}
