import type { Event, History } from './history.js';

export interface Violation {
  readonly time: number;
  readonly rule: string;
  readonly text: string;
}

type Of<K extends Event['kind']> = Extract<Event, { kind: K }>;

/**
 * Judges a history by the guarantee alone. It knows nothing of the implementation: only who said when
 * that it owns or leads, which hooks ran, and what a fenced resource accepted.
 */
export function check(history: History): Violation[] {
  return [
    ...overlaps(history),
    ...mixedTotals(history),
    ...tokensThatDoNotRise(history),
    ...twoLeaders(history),
    ...termsThatDoNotRise(history),
    ...hooksOutOfOrder(history),
    ...staleWrites(history),
    ...only(history, 'stuck').map(({ time, text }) => ({ time, rule: 'nothing wedges', text })),
  ].toSorted((a, b) => a.time - b.time);
}

/**
 * No item is owned by two. Each "yes" counts from the first to the last of one holding, so that it does
 * not matter who was asked when in between.
 */
function overlaps(history: History): Violation[] {
  const spans = holdingSpans(history);
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

function holdingSpans(history: History): Map<number, Span[]> {
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
function mixedTotals(history: History): Violation[] {
  const all = [...holdingSpans(history).entries()]
    .flatMap(([item, spans]) => spans.map((span) => ({ ...span, item })))
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
    if (event.kind === 'leader-lost' || event.kind === 'died') current.delete(event.who);
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

/** Hooks in pairs: a release for each acquisition, a start before each completion. */
function hooksOutOfOrder(history: History): Violation[] {
  const violations: Violation[] = [];
  const held = new Map<string, bigint>();
  const rebalancing = new Set<string>();
  const leading = new Set<string>();
  const report = (time: number, text: string): void => {
    violations.push({ time, rule: 'hooks run in order and in pairs', text });
  };
  for (const event of history) {
    switch (event.kind) {
      case 'acquired': {
        const key = `${event.who} ${event.item}`;
        if (held.has(key)) report(event.time, `${key} acquired again before its release`);
        held.set(key, event.token);
        break;
      }
      case 'released': {
        const key = `${event.who} ${event.item}`;
        if (held.get(key) !== event.token) report(event.time, `${key} released, but not held so`);
        held.delete(key);
        break;
      }
      case 'started':
        rebalancing.add(event.who);
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
      case 'died':
        for (const key of held.keys()) if (key.startsWith(`${event.who} `)) held.delete(key);
        rebalancing.delete(event.who);
        leading.delete(event.who);
        break;
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
    return [{ time, rule: 'no stale write is accepted', text }];
  });
}

function only<K extends Event['kind']>(history: History, kind: K): Of<K>[] {
  return history.filter((event): event is Of<K> => event.kind === kind);
}
