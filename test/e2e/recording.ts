import type { Event, Happening, History } from '../simulation/history.js';
import type { Line } from './fixtures/member.protocol.js';

type State = Extract<Line, { k: 'state' }>;
type Hook = Extract<Line, { k: 'hook' }>;

/** The same answer again and again, from its first time to its last: never longer than it was given. */
interface Span<A> {
  readonly answer: A;
  readonly from: number;
  to: number;
}

type Answer = Extract<Happening, { kind: 'owns' | 'leads' | 'leads-no-more' }>;

class Spans<A> {
  readonly all: Span<A>[] = [];
  readonly #open = new Map<string, Span<A>>();

  extend(key: string, answer: A, time: number): void {
    const open = this.#open.get(key);
    if (open) return void (open.to = time);
    const span = { answer, from: time, to: time };
    this.#open.set(key, span);
    this.all.push(span);
  }

  end(key: string): void {
    this.#open.delete(key);
  }
}

/** One holding of an item, from its first to its last "yes" to whether it is owned. */
export interface Holding {
  readonly item: number;
  readonly token: bigint;
  readonly from: number;
  readonly to: number;
}

/**
 * What one registration of one process has said, from its first line to its last. It is asked some
 * hundred times a second, for an hour: of each answer only the first and the last time are kept.
 */
export class Recording {
  readonly hooks: Hook[] = [];
  /** What counts for others: a shard that is being drained is not free yet, its worker may still write. */
  readonly #claims = new Spans<Answer>();
  readonly #owned = new Spans<Omit<Holding, 'from' | 'to'>>();
  #state: State | undefined;
  #heard = 0;
  #lines = 0;

  constructor(readonly who: string) {}

  /** When it last said anything about itself. */
  get heard(): number {
    return this.#heard;
  }

  /** How many lines it has said. */
  get lines(): number {
    return this.#lines;
  }

  get state(): State | undefined {
    return this.#state;
  }

  get items(): readonly number[] {
    return this.#state?.o.map(([item]) => item) ?? [];
  }

  get leads(): boolean {
    return this.#state?.leads ?? false;
  }

  learn(line: Line): void {
    if (!('who' in line) || line.who !== this.who) return;
    this.#lines += 1;
    this.#heard = line.t;
    switch (line.k) {
      case 'state':
        // It last gave the old answer when it was last asked.
        this.#witness(line.p);
        this.#state = line;
        return this.#witness(line.t);
      case 'beat':
        return this.#witness(line.t);
      case 'hook':
        // A term is over with these, whatever is answered next.
        if (line.hook === 'leader' || line.hook === 'leaderLost') this.#claims.end('leads');
        return void this.hooks.push(line);
      default:
    }
  }

  get holdings(): Holding[] {
    return this.#owned.all.map(({ answer, from, to }) => ({ ...answer, from, to }));
  }

  /** Its part of the history, not yet in order; `isOver` if the process has ended. */
  events(isOver: boolean): Event[] {
    const { who } = this;
    const answers = this.#claims.all.flatMap(({ answer, from, to }): Event[] => {
      const first = { ...answer, time: from };
      return to === from ? [first] : [first, { ...answer, time: to }];
    });
    const end: Event[] = isOver ? [{ kind: 'died', who, time: this.#heard }] : [];
    return [...this.hooks.map(toEvent), ...answers, ...end];
  }

  #witness(time: number): void {
    const { who } = this;
    const { o: owned = [], d: draining = [] } = this.#state ?? {};
    for (const [item, token] of owned) {
      this.#owned.extend(`${item} ${token}`, { item, token: BigInt(token) }, time);
    }
    for (const [item, token, total] of [...owned, ...draining]) {
      const answer = { kind: 'owns', who, item, token: BigInt(token), total } as const;
      this.#claims.extend(`${item} ${token}`, answer, time);
    }
    if (this.leads) this.#claims.extend('leads', { kind: 'leads', who }, time);
    else this.#claims.end('leads');
  }
}

function toEvent({
  who,
  t: time,
  hook,
  item = -1,
  token = '0',
  total = 0,
  term = '0',
}: Hook): Event {
  switch (hook) {
    case 'acquired':
      return { kind: 'acquired', who, time, item, token: BigInt(token), total };
    case 'released':
      return { kind: 'released', who, time, item, token: BigInt(token) };
    case 'leader':
      return { kind: 'leader', who, time, term: BigInt(term) };
    case 'leaderLost':
      return { kind: 'leader-lost', who, time };
    case 'started':
    case 'completed':
      return { kind: hook, who, time };
  }
}

/** One history from those of several processes; what each said keeps its order. */
export function merge(parts: readonly (readonly Event[])[]): History {
  return parts.flat().toSorted((a, b) => a.time - b.time);
}

/** From one quiet moment to another. */
export interface Window {
  readonly from: number;
  readonly to: number;
  /** How many items there were at its begin and at its end. */
  readonly totals: readonly [number, number];
}

/** The longest time within the window for which nobody owned an item that there was. */
export function longestGap(holdings: readonly Holding[], { from, to, totals }: Window): number {
  const [before, after] = totals;
  let longest = 0;
  for (let item = 0; item < Math.max(before, after); item += 1) {
    const spans = holdings
      .filter((span) => span.item === item && span.to >= from && span.from <= to)
      .toSorted((a, b) => a.from - b.from);
    // An item that comes to be, or ceases to be, with a change of the total misses nobody till or since then.
    let owned = item < before ? from : (spans[0]?.from ?? to);
    for (const span of spans) {
      longest = Math.max(longest, span.from - owned);
      owned = Math.max(owned, span.to);
    }
    if (item < after) longest = Math.max(longest, to - owned);
  }
  return longest;
}
