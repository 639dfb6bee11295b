import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { balanceByWeight } from './balance-by-weight.js';
import { expectLoads, pick, withoutPart } from './expected-loads.js';
import { levelOut, scaledWeights, wholeShares } from './fair-shares.js';
import { itemAmounts, sum } from './item-amounts.js';
import { splitOversized } from './oversized.js';
import { classesOf, type PlacementClass } from './placement.js';
import { seatsFor } from './seats.js';
import { sumOf, zonedSeats, zonesOf, type Zone } from './zones.js';

/**
 * Even, with as few moves as that allows. The same input gives the same result anywhere, and its own
 * result is left as it is. What it promises:
 *
 * - **Items that weigh the same:** everyone holds its exact share N·w/W rounded down or up, and no
 *   assignment of which this is true moves fewer items. O(N + M log M).
 * - **Items with weights:** everyone's load is less than the heaviest item away from its share of the
 *   whole weight; items heavier than an even share (whole weight / members) are dealt out first, and
 *   the others level out around them by the same rule. An item moves only if nobody has it or if its
 *   holder is above its share, counting what it has just been given. O(N log N).
 * - **Demands** are never violated; what nobody may hold is -1. Items are taken by where they may go,
 *   the narrowest choice first. Each such class keeps the rules above on its own, where the shares are
 *   those that level out its members together with what other classes put on them. Where classes share
 *   no members that is the best there is; where they overlap, nobody was ever found to hold more than
 *   one item above, or below, the best possible for the most, or the least, loaded.
 * - **Zones:** a zone holds the share of its members together rounded down or up (or to within the
 *   heaviest item), and the rules above hold within each zone for what it holds.
 *
 * @publicApi
 */
export function sticky(input: StrategyInput): Int32Array {
  const { members, total, spreadOver, itemWeights } = input;
  const target = new Int32Array(total).fill(-1);
  const amounts = itemAmounts(itemWeights);
  const found = classesOf(input);
  const classes = amounts ? splitOversized(found, amounts) : found;
  const sizes = Float64Array.from(classes, ({ items }) =>
    amounts ? sum(pick(amounts, items)) : items.length,
  );
  const weights = scaledWeights(members);
  const { loads, parts } = expectLoads(classes, sizes, weights);

  for (const [index, placed] of classes.entries()) {
    const part = parts[index]!;
    // Classes before this one count with what they really got, those after it with what is expected.
    const base = withoutPart(loads, part, placed.members);
    const zones = spreadOver === undefined ? undefined : zonesWithin(placed, input, weights, base);
    const seen: ClassView = {
      holders: holdersWithin(placed, input),
      shares: levelOut(sizes[index]!, pick(weights, placed.members), base),
      zones,
    };
    const places = amounts ? placeByWeight(seen, pick(amounts, placed.items)) : placeByCount(seen);
    if (isEverything(placed, input)) return places;
    for (let at = 0; at < places.length; at++) {
      const member = placed.members[places[at]!]!;
      const item = placed.items[at]!;
      target[item] = member;
      loads[member]! += amounts ? amounts[item]! : 1;
    }
    for (let at = 0; at < part.length; at++) loads[placed.members[at]!]! -= part[at]!;
  }
  return target;
}

/** A class of items; members are positions in its list, items are positions in its list. */
interface ClassView {
  /** Who has each item now, or -1. */
  readonly holders: Int32Array;
  readonly shares: Float64Array;
  readonly zones: readonly Zone[] | undefined;
}

function placeByCount({ holders, shares, zones }: ClassView): Int32Array {
  const held = countHeld(holders, shares.length);
  const seats = zones
    ? zonedSeats(shares, held, zones, holders.length)
    : seatsFor(holders.length, shares, held);
  return keepThenFill(holders, seats);
}

/** Whoever holds no more than its seats keeps everything; the rest goes where seats are left. */
function keepThenFill(holders: Int32Array, seats: Int32Array): Int32Array {
  const places = new Int32Array(holders.length);
  const left = seats.slice();
  const homeless = new Int32Array(holders.length);
  let count = 0;
  for (let at = 0; at < holders.length; at++) {
    const holder = holders[at]!;
    if (holder >= 0 && left[holder]! > 0) {
      places[at] = holder;
      left[holder]! -= 1;
    } else homeless[count++] = at;
  }
  let receiver = 0;
  for (let index = 0; index < count; index++) {
    while (left[receiver] === 0) receiver += 1;
    places[homeless[index]!] = receiver;
    left[receiver]! -= 1;
  }
  return places;
}

function placeByWeight({ holders, shares, zones }: ClassView, amounts: Float64Array): Int32Array {
  const whole = wholeShares(shares, sum(amounts));
  if (!zones) return balanceByWeight(amounts, holders, whole);

  const zoneOf = new Int32Array(shares.length);
  for (const [zone, { members }] of zones.entries()) {
    for (const member of members) zoneOf[member] = zone;
  }
  const zoneShares = Float64Array.from(zones, ({ members }) => sumOf(whole, members));
  const zoneHolders = holders.map((holder) => (holder < 0 ? -1 : zoneOf[holder]!));
  const zonePlaces = balanceByWeight(amounts, zoneHolders, zoneShares);

  const places = new Int32Array(holders.length);
  for (const [zone, { members, weights, base }] of zones.entries()) {
    const items = Int32Array.from(holders.keys()).filter((at) => zonePlaces[at] === zone);
    const inside = pick(amounts, items);
    const positions = positionsOf(members, shares.length);
    const holdersInside = items.map((at) => (holders[at]! < 0 ? -1 : positions[holders[at]!]!));
    const load = sum(inside);
    const sharesInside = wholeShares(levelOut(load, weights, base), load);
    const found = balanceByWeight(inside, holdersInside, sharesInside);
    for (let at = 0; at < items.length; at++) places[items[at]!] = members[found[at]!]!;
  }
  return places;
}

function countHeld(holders: Int32Array, count: number): Int32Array {
  const held = new Int32Array(count);
  // Counted by index: iterating over a typed array of 100,000 costs several times as much.
  for (let at = 0; at < holders.length; at++) {
    const holder = holders[at]!;
    if (holder >= 0) held[holder]! += 1;
  }
  return held;
}

/** Every item may go to every member: then positions in the class are what they are outside. */
function isEverything({ members, items }: PlacementClass, input: StrategyInput): boolean {
  return items.length === input.total && members.length === input.members.length;
}

function holdersWithin(placed: PlacementClass, input: StrategyInput): Int32Array {
  if (isEverything(placed, input)) return input.current;
  const { members, items } = placed;
  const positions = positionsOf(members, input.members.length);
  const holders = new Int32Array(items.length);
  for (let at = 0; at < items.length; at++) {
    const holder = input.current[items[at]!]!;
    holders[at] = holder < 0 ? -1 : positions[holder]!;
  }
  return holders;
}

function zonesWithin(
  { members }: PlacementClass,
  input: StrategyInput,
  weights: Float64Array,
  base: Float64Array,
): Zone[] {
  const present = Array.from(members, (member) => input.members[member]!);
  return zonesOf(present, input.spreadOver!).map((positions) => ({
    members: positions,
    weights: Float64Array.from(positions, (position) => weights[members[position]!]!),
    base: pick(base, positions),
  }));
}

/** Where each of `count` members stands in the list, or -1. */
function positionsOf(members: Int32Array, count: number): Int32Array {
  const positions = new Int32Array(count).fill(-1);
  for (let at = 0; at < members.length; at++) positions[members[at]!] = at;
  return positions;
}
