import type { PlacementClass } from './placement.js';

/**
 * Takes items that outweigh an even share of their class out into a class of their own, placed before
 * the others. Whoever holds one is above any fair share and stays there; unless it is set apart, the
 * rest would seem to be below their share for ever, however unevenly they share what remains.
 */
export function splitOversized(
  classes: readonly PlacementClass[],
  amounts: Float64Array,
): PlacementClass[] {
  return classes.flatMap(({ members, items }) => {
    const limit = largestOrdinary(items, members.length, amounts);
    const oversized = items.filter((item) => amounts[item]! > limit);
    if (oversized.length === 0) return [{ members, items }];
    const ordinary = items.filter((item) => amounts[item]! <= limit);
    return [
      { members, items: oversized },
      { members, items: ordinary },
    ].filter((found) => found.items.length > 0);
  });
}

/** What is taken out lowers the even share of the rest, so this looks again until nothing is above. */
function largestOrdinary(items: Int32Array, count: number, amounts: Float64Array): number {
  let limit = Infinity;
  for (;;) {
    let rest = 0;
    let oversized = 0;
    for (let at = 0; at < items.length; at++) {
      if (amounts[items[at]!]! > limit) oversized += 1;
      else rest += amounts[items[at]!]!;
    }
    if (oversized >= count) return limit;
    const lower = rest / (count - oversized);
    if (!(lower < limit)) return limit;
    limit = lower;
  }
}
