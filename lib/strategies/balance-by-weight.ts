import { largest } from './fair-shares.js';
import { heaviestFirst } from './heaviest-first.js';
import { LargestFirstHeap } from './largest-first.heap.js';

/**
 * Which bin each item goes to, so that every bin's load ends less than the heaviest item away from its
 * share. `amounts` and `shares` are whole numbers with the same sum, `holders` says where items are
 * now (-1 = nowhere). O(N log N).
 *
 * An item moves only if it is nowhere, or if its bin is above its share, with what has just been given
 * to it counted in. A bin that was not above it gives nothing but what is lighter than what it got.
 *
 * 1. Bins that are above by the heaviest item or more let go, heaviest first, until they are not.
 * 2. What is nowhere goes, heaviest first, to the bin that lacks most. As long as something is left,
 *    that one lacks something, so it ends less than the heaviest item above its share.
 * 3. Heaviest first, items of bins above their share go to the bin that lacks most if they fit into
 *    what it lacks: first those that do not bring their own bin below its share, then all. What any
 *    bin lacks at most never grows from step 2 on, so what did not fit once will not fit later: one
 *    pass over all reaches the end, and a second run finds nothing to do. A bin that lacks as much as
 *    the heaviest item cannot be left, because then some bin is above its share, and whatever that
 *    one holds fits.
 */
export function balanceByWeight(
  amounts: Float64Array,
  holders: Int32Array,
  shares: Float64Array,
): Int32Array {
  const bins = holders.slice();
  const heaviest = largest(amounts);
  const lacks = whatIsLacking(amounts, bins, shares);
  const order = heaviestFirst(amounts, heaviest);

  for (let rank = 0; rank < order.length; rank++) {
    const item = order[rank]!;
    const bin = bins[item]!;
    if (bin < 0 || -lacks[bin]! < heaviest) continue;
    bins[item] = -1;
    lacks[bin]! += amounts[item]!;
  }

  const heap = new LargestFirstHeap(lacks);
  const give = (item: number, bin: number): void => {
    bins[item] = bin;
    lacks[bin]! -= amounts[item]!;
    heap.settle(bin);
  };
  for (let rank = 0; rank < order.length; rank++) {
    if (bins[order[rank]!]! < 0) give(order[rank]!, heap.top);
  }

  const level = (mayFallBelow: boolean): void => {
    for (let rank = 0; rank < order.length; rank++) {
      const item = order[rank]!;
      const bin = bins[item]!;
      const receiver = heap.top;
      const fits = amounts[item]! <= lacks[receiver]!;
      const isAbove = mayFallBelow ? lacks[bin]! < 0 : -lacks[bin]! >= amounts[item]!;
      if (!fits || !isAbove) continue;
      lacks[bin]! += amounts[item]!;
      heap.settle(bin);
      give(item, receiver);
    }
  };
  level(false);
  level(true);
  return bins;
}

function whatIsLacking(
  amounts: Float64Array,
  bins: Int32Array,
  shares: Float64Array,
): Float64Array {
  const lacks = shares.slice();
  for (let item = 0; item < bins.length; item++) {
    if (bins[item]! >= 0) lacks[bins[item]!]! -= amounts[item]!;
  }
  return lacks;
}
