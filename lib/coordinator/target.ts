import type {
  Demand,
  ShardingStrategy,
  StrategyInput,
} from '../interfaces/sharding-strategy.interface.js';
import type { Absences } from './away.js';
import type { GroupConfig, ItemConfig } from './group-config.js';
import type { Plan } from './plan.js';
import { hasLabels, type Roster, type Seat } from './roster.js';

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
/** What does not have to stay where it is: the strategy decides. */
const LEFT_OPEN = -2;
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
  if (fixed)
    for (let item = 0; item < total; item++) {
      if (fixed[item] !== LEFT_OPEN) target[item] = fixed[item]!;
    }
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
  // A loop, for `from` with a function takes several times as long.
  const target = new Int32Array(input.total);
  for (let item = 0; item < input.total; item++) {
    const seat = given[item]!;
    target[item] = seat < 0 ? NOBODY : seats[seat]!.place;
  }
  return target;
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
 * owner is back and can be given it. What is being taken away, or belongs to somebody who can hold nothing, is nobody's.
 */
function claimsOf(
  { total, owners, isHeld, away, homes }: Situation,
  { present, holders, seats }: Roster,
  placeOf: Int32Array,
): Int32Array {
  const claims = new Int32Array(total);
  const claimant = placeOf.map((place) =>
    place >= 0 && holders.has(present[place]!.id) ? place : NOBODY,
  );
  const seatAt = new Map(seats.map(({ id, place }) => [id, place]));
  const homePlace = Int32Array.from(away, ({ id }) => seatAt.get(id) ?? NOBODY);
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
      if (demand) this.#demanded()[item] = this.#indexFor(demand);
      if (said.weight !== undefined) {
        this.#weights ??= new Float64Array(total).fill(1);
        this.#weights[item] = said.weight;
      }
    }
  }

  /**
   * Takes what has to stay where it is out of the strategy's hands, as long as nothing that is said of
   * the item speaks against it: what is kept for somebody who is away, and what a cordoned member has.
   * Returns the place of each, or undefined if there is nothing of the kind.
   */
  fix(
    { away, homes, isHeld }: Situation,
    claims: Int32Array,
    roster: Roster,
  ): Int32Array | undefined {
    const seatAt = seatsByPlace(roster.present.length, roster.seats);
    const isCordoned = roster.seats.length < roster.holders.size;
    const keeps = away.map(({ id, lends }) => !lends && !roster.holders.has(id));
    if (!isCordoned && !keeps.includes(true)) return undefined;
    const fixed = new Int32Array(this.total).fill(LEFT_OPEN);
    const byNobody = this.#indexFor(BY_NOBODY);
    const demandOf = this.#demanded();
    for (let item = 0; item < this.total; item++) {
      const home = homes[item]!;
      const claim = claims[item]!;
      const isKept = home >= 0 && keeps[home] === true && !isHeld(item);
      const isCordonedOff = !isKept && claim >= 0 && seatAt[claim]! < 0;
      if (!isKept && !isCordonedOff) continue;
      if (!this.#suits(item, isKept ? away[home]! : roster.present[claim]!)) continue;
      fixed[item] = isKept ? NOBODY : claim;
      demandOf[item] = byNobody;
    }
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

  /** Whether nothing that is said of the item speaks against its being with this instance. */
  #suits(item: number, { id, labels }: Pick<Seat, 'id' | 'labels'>): boolean {
    const said = this.config.items[item];
    if (!said) return true;
    const { disabled, pin, needs } = said;
    if (disabled) return false;
    if (pin === id) return true;
    if (pin !== undefined && this.#seatIds.has(pin)) return false;
    return !needs || hasLabels(labels, Object.entries(needs));
  }

  #indexFor(demand: Demand): number {
    const key = JSON.stringify(demand);
    let index = this.#indexOf.get(key);
    if (index === undefined) {
      index = this.#demands.push(demand) - 1;
      this.#indexOf.set(key, index);
    }
    return index;
  }

  #demanded(): Int32Array {
    return (this.#demandOf ??= new Int32Array(this.total).fill(-1));
  }
}

/** While the group is paused, what is held stays; what nobody has can be given out, which stops nobody. */
function holdStill(target: Int32Array, { owners, isHeld }: Situation, placeOf: Int32Array): void {
  for (let item = 0; item < target.length; item++) {
    if (isHeld(item)) target[item] = placeOf[owners[item]!]!;
  }
}
