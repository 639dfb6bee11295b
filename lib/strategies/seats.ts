/** A share that is nearer than this to a whole number is that number: the rest is rounding. */
const TINY = 1e-9;

/**
 * Whole seats out of exact shares by the quota rule: everyone gets its share rounded down or up. Those
 * that hold more than their share rounded down come first for a seat more, since it saves a move; no
 * other choice saves more. Then those with the larger remainder, those that hold more, the first.
 */
export function seatsFor(total: number, shares: Float64Array, held: Int32Array): Int32Array {
  const seats = new Int32Array(shares.length);
  let extra = total;
  for (let index = 0; index < seats.length; index++) {
    seats[index] = wholePart(shares[index]!);
    extra -= seats[index]!;
  }
  if (extra === 0) return seats;

  const gains = new Float64Array(seats.length);
  for (let index = 0; index < seats.length; index++) {
    gains[index] = held[index]! > seats[index]! ? 1 : 0;
  }
  const ranked = rankForExtra(shares, gains, held);
  for (let rank = 0; rank < extra; rank++) seats[ranked[rank]!]! += 1;
  return seats;
}

export function wholePart(share: number): number {
  return Math.floor(share + TINY);
}

/** Who comes first for a seat beyond the whole part of its share; whoever has no remainder comes last. */
export function rankForExtra(
  shares: Float64Array,
  gains: Float64Array,
  held: Int32Array,
): Int32Array {
  const rests = shares.map(remainder);
  return Int32Array.from(shares.keys()).sort(
    (a, b) =>
      Number(rests[b]! > 0) - Number(rests[a]! > 0) ||
      gains[b]! - gains[a]! ||
      rests[b]! - rests[a]! ||
      held[b]! - held[a]! ||
      a - b,
  );
}

/** In whole billionths, so that equal remainders are equal whatever they were computed from. */
function remainder(share: number): number {
  return Math.max(0, Math.round((share - wholePart(share)) / TINY));
}
