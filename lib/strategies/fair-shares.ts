/**
 * How an amount is shared so that everyone ends at the same level, load divided by weight: like water
 * poured into vessels that are partly filled already (`base`). Who stands above the level gets nothing.
 */
export function levelOut(
  amount: number,
  weights: Float64Array,
  base: Float64Array = new Float64Array(weights.length),
): Float64Array {
  const level = levelOf(amount, weights, base);
  const shares = new Float64Array(weights.length);
  for (let index = 0; index < shares.length; index++) {
    shares[index] = Math.max(0, level * weights[index]! - base[index]!);
  }
  return shares;
}

/** Those found above the level take no part in it, which lowers it; a few rounds find all of them. */
function levelOf(amount: number, weights: Float64Array, base: Float64Array): number {
  let level = Infinity;
  for (;;) {
    let weight = 0;
    let filled = amount;
    for (let index = 0; index < weights.length; index++) {
      if (base[index]! >= level * weights[index]!) continue;
      weight += weights[index]!;
      filled += base[index]!;
    }
    const lower = filled / weight;
    if (!(lower < level)) return level;
    level = lower;
  }
}

/** The same shares as whole numbers that add up to the amount exactly, each less than one off. */
export function wholeShares(shares: Float64Array, amount: number): Float64Array {
  const whole = new Float64Array(shares.length);
  let exact = 0;
  let given = 0;
  for (let index = 0; index < shares.length; index++) {
    exact += shares[index]!;
    const upTo = index === shares.length - 1 ? amount : Math.min(amount, Math.round(exact));
    whole[index] = upTo - given;
    given = upTo;
  }
  return whole;
}

/** A power of two less than a factor of two away: scaling by it loses no digit. */
export function powerOfTwoNear(value: number): number {
  return 2 ** Math.floor(Math.log2(value));
}

/** Weights scaled to about 1 at most, so that no sum of them overflows. */
export function scaledWeights(members: readonly { readonly weight: number }[]): Float64Array {
  const weights = Float64Array.from(members, ({ weight }) => weight);
  const unit = powerOfTwoNear(largest(weights));
  for (let index = 0; index < weights.length; index++) weights[index]! /= unit;
  return weights;
}

export function largest(values: Float64Array): number {
  let found = 0;
  for (let index = 0; index < values.length; index++) found = Math.max(found, values[index]!);
  return found;
}
