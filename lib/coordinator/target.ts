import type {
  Demand,
  ShardingStrategy,
  StrategyInput,
} from '../interfaces/sharding-strategy.interface.js';
import type { Absences } from './away.js';
import type { GroupConfig, ItemConfig } from './group-config.js';
import type { Plan } from './plan.js';
import type { Roster, Seat } from './roster.js';

/** What is known of the items when a target is chosen. */
export interface Situation extends Absences {
  readonly total: number;
  /** Of the plan that `owners` refer to. */
  readonly members: Plan['members'];
  readonly owners: Int32Array;
  /** Whether an item is held by a live member and not asked back. */
  readonly isHeld: (item: number) => boolean;
}

const NOBODY = -1;
/** Ids are never empty, so nobody satisfies this. */
const BY_NOBODY: Demand = { id: '' };

/**
 * Where each item should be, as an index in the roster's `present`, or -1. The strategy decides about
 * what is free to move; what the configuration says of single items reaches it as demands. It does not
 * get to see what stays where it is in any case: what a cordoned member has, and what is kept for
 * somebody who is away.
 */
export function targetOf(
  situation: Situation,
  roster: Roster,
  config: GroupConfig,
  strategy: ShardingStrategy,
): Int32Array {
  const { total } = situation;
  const placeOf = placesOf(situation, roster);
  const claims = claimsOf(situation, roster, placeOf);
  const rules = new Rules(config, roster, total);
  const fixed = rules.fix(situation, claims, roster);

  const input = { total, ...rules.forStrategy(), ...spreadOf(config) };
  const target = ask(strategy, claims, roster, input);
  for (const [item, place] of fixed) target[item] = place;
  if (config.paused) holdStill(target, situation, placeOf);
  return target;
}

/** Asks the strategy, which knows seats, about claims and for an answer in places. */
function ask(
  strategy: ShardingStrategy,
  claims: Int32Array,
  { present, seats }: Roster,
  input: Omit<StrategyInput, 'members' | 'current'>,
): Int32Array {
  if (seats.length === 0) return new Int32Array(input.total).fill(NOBODY);
  if (seats.length === present.length) {
    return Int32Array.from(strategy({ ...input, members: seats, current: claims }));
  }
  const seatAt = seatsByPlace(present.length, seats);
  const current = claims.map((place) => (place < 0 ? NOBODY : seatAt[place]!));
  const given = strategy({ ...input, members: seats, current });
  return Int32Array.from(given, (seat) => (seat < 0 ? NOBODY : seats[seat]!.place));
}

function spreadOf({ spreadOver }: GroupConfig): Pick<StrategyInput, 'spreadOver'> {
  return spreadOver === undefined ? {} : { spreadOver };
}

/** Where each member of the plan stands now, or -1 if it is gone or about to go. */
function placesOf({ members }: Situation, { present }: Roster): Int32Array {
  const places = new Map(present.map(({ incarnation }, place) => [incarnation, place]));
  return Int32Array.from(members, ({ incarnation }) => places.get(incarnation) ?? NOBODY);
}

/**
 * Whose each item is as far as the strategy is concerned: its holder's, unless it was lent out and its
 * owner is back. What is being taken away, or belongs to somebody who can hold nothing, is nobody's.
 */
function claimsOf(
  { total, owners, isHeld, away, homes }: Situation,
  { present, holders }: Roster,
  placeOf: Int32Array,
): Int32Array {
  const claims = new Int32Array(total);
  const claimant = placeOf.map((place) =>
    place >= 0 && holders.has(present[place]!.id) ? place : NOBODY,
  );
  const homePlace = Int32Array.from(away, ({ id }) => holders.get(id) ?? NOBODY);
  const isAnybodyBack = homePlace.some((place) => place >= 0);
  for (let item = 0; item < total; item++) {
    const back = isAnybodyBack && homes[item]! >= 0 ? homePlace[homes[item]!]! : NOBODY;
    claims[item] = back >= 0 ? back : isHeld(item) ? claimant[owners[item]!]! : NOBODY;
  }
  return claims;
}

function seatsByPlace(count: number, seats: readonly Seat[]): Int32Array {
  const seatAt = new Int32Array(count).fill(NOBODY);
  for (const [seat, { place }] of seats.entries()) seatAt[place] = seat;
  return seatAt;
}

/** What the configuration says of single items, in the form in which strategies take it. */
class Rules {
  readonly #demands: Demand[] = [];
  readonly #indexOf = new Map<string, number>();
  readonly #seatIds: ReadonlySet<string>;
  #demandOf: Int32Array | undefined;
  #weights: Float64Array | undefined;

  constructor(
    private readonly config: GroupConfig,
    { seats }: Roster,
    private readonly total: number,
  ) {
    this.#seatIds = new Set(seats.map(({ id }: Seat) => id));
    for (const [key, said] of Object.entries(config.items)) {
      const item = Number(key);
      if (item >= total) continue;
      const demand = this.#demandFor(said);
      if (demand) this.#ask(item, demand);
      if (said.weight !== undefined) {
        this.#weights ??= new Float64Array(total).fill(1);
        this.#weights[item] = said.weight;
      }
    }
  }

  /** Takes what has to stay where it is out of the strategy's hands; returns the place of each. */
  fix(situation: Situation, claims: Int32Array, roster: Roster): Map<number, number> {
    const fixed = new Map<number, number>();
    const seatAt = seatsByPlace(roster.present.length, roster.seats);
    const isCordoned = roster.seats.length < roster.holders.size;
    const keeps = situation.away.map(({ id, lends }) => !lends && !roster.holders.has(id));
    if (!isCordoned && !keeps.includes(true)) return fixed;
    for (let item = 0; item < this.total; item++) {
      const home = situation.homes[item]!;
      const claim = claims[item]!;
      if (home >= 0 && keeps[home] && !situation.isHeld(item)) fixed.set(item, NOBODY);
      else if (claim >= 0 && seatAt[claim]! < 0 && this.#mayStay(item, situation, roster, claim)) {
        fixed.set(item, claim);
      }
    }
    for (const item of fixed.keys()) this.#ask(item, BY_NOBODY);
    return fixed;
  }

  forStrategy(): Pick<StrategyInput, 'demands' | 'demandOf' | 'itemWeights'> {
    return {
      ...(this.#demandOf ? { demands: this.#demands, demandOf: this.#demandOf } : {}),
      ...(this.#weights ? { itemWeights: this.#weights } : {}),
    };
  }

  /** A pin whose target cannot be given anything is ignored. */
  #demandFor({ disabled, pin, needs }: ItemConfig): Demand | undefined {
    if (disabled) return BY_NOBODY;
    if (pin !== undefined && this.#seatIds.has(pin)) return { id: pin };
    return needs && Object.keys(needs).length > 0 ? { labels: needs } : undefined;
  }

  /** A cordoned member keeps what it holds, as long as nothing that is said of the item speaks against it. */
  #mayStay(item: number, situation: Situation, { present }: Roster, place: number): boolean {
    const { id, labels } = present[place]!;
    const { disabled, pin, needs = {} } = this.config.items[item] ?? {};
    if (!situation.isHeld(item) || disabled) return false;
    if (pin !== undefined) return pin === id || !this.#seatIds.has(pin);
    return Object.entries(needs).every(([key, value]) => labels[key] === value);
  }

  #ask(item: number, demand: Demand): void {
    const key = JSON.stringify(demand);
    let index = this.#indexOf.get(key);
    if (index === undefined) {
      index = this.#demands.push(demand) - 1;
      this.#indexOf.set(key, index);
    }
    this.#demandOf ??= new Int32Array(this.total).fill(-1);
    this.#demandOf[item] = index;
  }
}

/** While the group is paused, what is held stays, and what nobody has had remains so. */
function holdStill(target: Int32Array, situation: Situation, placeOf: Int32Array): void {
  const { owners, homes, isHeld } = situation;
  for (let item = 0; item < target.length; item++) {
    const owner = owners[item]!;
    if (isHeld(item)) target[item] = placeOf[owner]!;
    else if (owner < 0 && homes[item]! < 0) target[item] = NOBODY;
  }
}

/** What the configuration asks for and cannot be had, in words for people. */
export function unmetWishes(config: GroupConfig, roster: Roster, total: number): string[] {
  const unmet = new Map<string, number[]>();
  const ids = new Set(roster.seats.map(({ id }) => id));
  for (const [key, { disabled, pin, needs }] of Object.entries(config.items)) {
    const item = Number(key);
    if (disabled || item >= total) continue;
    const note = (text: string): void => void unmet.set(text, [...(unmet.get(text) ?? []), item]);
    const isPinned = pin !== undefined && ids.has(pin);
    if (pin !== undefined && !isPinned) {
      note(`is pinned to ${pin}, which cannot be given anything: the pin is ignored`);
    }
    if (isPinned || !needs) continue;
    const wanted = Object.entries(needs);
    const isMet = roster.seats.some(({ labels }) =>
      wanted.every(([label, value]) => labels[label] === value),
    );
    if (!isMet) {
      const said = wanted.map(([label, value]) => `${label}=${value}`).join(' and ');
      note(`needs ${said}, which no instance has: nobody holds it`);
    }
  }
  return [...unmet].map(([text, items]) => `${nameItems(items)} ${text}`);
}

function nameItems(items: readonly number[]): string {
  if (items.length === 1) return `Item ${items[0]}`;
  const shown = items.slice(0, 10).join(', ');
  return `Each of the items ${shown}${items.length > 10 ? ', …' : ''}`;
}
