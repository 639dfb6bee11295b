import type { StrategyMember } from '../interfaces/sharding-strategy.interface.js';
import { levelOut } from './fair-shares.js';
import { rankForExtra, seatsFor, wholePart } from './seats.js';

/** The members of each zone, as positions in the list given; zones in the order of their first member. */
export function zonesOf(members: readonly StrategyMember[], label: string): Int32Array[] {
  const zones = new Map<string, number[]>();
  for (const [position, { labels }] of members.entries()) {
    const value = Object.hasOwn(labels, label) ? labels[label]! : '';
    const zone = zones.get(value);
    if (zone) zone.push(position);
    else zones.set(value, [position]);
  }
  return Array.from(zones.values(), (zone) => Int32Array.from(zone));
}

/**
 * Seats by the quota rule for the zones, then for the members of each. A zone's seat beyond its whole
 * share goes where it lets the most items stay, so no seats that keep both rules move fewer.
 */
export function zonedSeats(
  shares: Float64Array,
  held: Int32Array,
  zones: readonly Zone[],
  total: number,
): Int32Array {
  const sums = Float64Array.from(zones, ({ members }) => sumOf(shares, members));
  const heldByZone = Int32Array.from(zones, ({ members }) => sumOf(held, members));
  const lower = zones.map((zone, index) => seatsWithin(zone, wholePart(sums[index]!), held));
  const upper = zones.map((zone, index) => seatsWithin(zone, wholePart(sums[index]!) + 1, held));
  const gains = Float64Array.from(zones, ({ members }, index) => {
    return keptWith(upper[index]!, members, held) - keptWith(lower[index]!, members, held);
  });

  let extra = total;
  for (const sum of sums) extra -= wholePart(sum);
  const hasExtra = new Uint8Array(zones.length);
  if (extra > 0) {
    for (const zone of rankForExtra(sums, gains, heldByZone).subarray(0, extra)) hasExtra[zone] = 1;
  }

  const seats = new Int32Array(held.length);
  for (const [index, { members }] of zones.entries()) {
    const chosen = hasExtra[index] === 1 ? upper[index]! : lower[index]!;
    for (const [at, member] of members.entries()) seats[member] = chosen[at]!;
  }
  return seats;
}

/** A zone as one class of items sees it. */
export interface Zone {
  /** Positions among the members of the class. */
  readonly members: Int32Array;
  readonly weights: Float64Array;
  readonly base: Float64Array;
}

export function sumOf(values: ArrayLike<number>, positions: Int32Array): number {
  let sum = 0;
  for (let at = 0; at < positions.length; at++) sum += values[positions[at]!]!;
  return sum;
}

function seatsWithin({ members, weights, base }: Zone, total: number, held: Int32Array) {
  const heldInside = Int32Array.from(members, (member) => held[member]!);
  return seatsFor(total, levelOut(total, weights, base), heldInside);
}

function keptWith(seats: Int32Array, members: Int32Array, held: Int32Array): number {
  let kept = 0;
  for (let at = 0; at < members.length; at++) kept += Math.min(seats[at]!, held[members[at]!]!);
  return kept;
}
