import { largest, powerOfTwoNear } from './fair-shares.js';

/** Sums of amounts are at most four times this: below 2⁵³, so that all sums and differences are exact. */
const SCALE_OF_SUM = 2 ** 48;

/**
 * Item weights as whole numbers, so that sums do not depend on the order of adding: otherwise rounding
 * could tip a comparison and move an item for nothing. Undefined where all items weigh the same, since
 * then they can be counted.
 */
export function itemAmounts(weights: Float64Array | undefined): Float64Array | undefined {
  if (!weights || areEqual(weights)) return undefined;
  const scale = SCALE_OF_SUM / powerOfTwoNear(weights.length) / powerOfTwoNear(largest(weights));
  const amounts = new Float64Array(weights.length);
  for (let item = 0; item < amounts.length; item++) {
    amounts[item] = Math.max(1, Math.round(weights[item]! * scale));
  }
  return amounts;
}

function areEqual(values: Float64Array): boolean {
  for (let index = 1; index < values.length; index++) {
    if (values[index] !== values[0]) return false;
  }
  return true;
}

export function sum(values: Float64Array): number {
  let total = 0;
  for (let index = 0; index < values.length; index++) total += values[index]!;
  return total;
}
