const DIGIT = 13;
const VALUES = 1 << DIGIT;
/** Two digits: amounts have up to four of them, and stay exact where they are cut in half. */
const HALF = VALUES * VALUES;

/**
 * Positions by amount, the heaviest first, the first of equals. Amounts are whole numbers below 2⁵², so
 * they are sorted digit by digit: O(N), where comparing a hundred thousand takes as long as all else.
 */
export function heaviestFirst(amounts: Float64Array, heaviest: number): Int32Array {
  const low = new Int32Array(amounts.length);
  const high = new Int32Array(amounts.length);
  let order: Int32Array = new Int32Array(amounts.length);
  for (let at = 0; at < amounts.length; at++) {
    order[at] = at;
    const missing = heaviest - amounts[at]!;
    high[at] = Math.floor(missing / HALF);
    low[at] = missing - high[at]! * HALF;
  }
  for (const half of [low, high]) {
    for (const shift of [0, DIGIT]) order = sortedByDigit(order, half, shift);
  }
  return order;
}

/** Stable: what has the same digit stays in order. */
function sortedByDigit(order: Int32Array, keys: Int32Array, shift: number): Int32Array {
  const places = new Int32Array(VALUES + 1);
  for (let at = 0; at < keys.length; at++) places[((keys[at]! >> shift) & (VALUES - 1)) + 1]! += 1;
  // All alike, as the highest digits mostly are.
  if (places.includes(keys.length)) return order;
  const sorted = new Int32Array(order.length);
  for (let value = 1; value <= VALUES; value++) places[value]! += places[value - 1]!;
  for (let rank = 0; rank < order.length; rank++) {
    const position = order[rank]!;
    const digit = (keys[position]! >> shift) & (VALUES - 1);
    sorted[places[digit]!++] = position;
  }
  return sorted;
}
