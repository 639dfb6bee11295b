import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';

/**
 * As ElasticJob's strategy of that name: the k-th of M members gets ⌊N/M⌋ items in a row, and the items
 * that are left over at the end of the range go one each to the first members. So of ten items three
 * members get 0–2 and 9, 3–5, 6–8. It knows no weights, demands or zones, and no history.
 *
 * @publicApi
 */
export function average({ members, total }: StrategyInput): Int32Array {
  return inRows(members.length, total, (place) => place);
}

/** The same with members in another order: `memberAt` gives the one that stands at a place. */
export function inRows(
  count: number,
  total: number,
  memberAt: (place: number) => number,
): Int32Array {
  const each = Math.floor(total / count);
  const inRow = each * count;
  const target = new Int32Array(total);
  for (let place = 0; place < count; place++) {
    const member = memberAt(place);
    target.fill(member, place * each, (place + 1) * each);
    if (inRow + place < total) target[inRow + place] = member;
  }
  return target;
}
