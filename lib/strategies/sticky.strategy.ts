import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';

/**
 * Balanced to within one item, and no assignment that is so balanced moves fewer items: everyone has
 * ⌊N/M⌋ seats, the N mod M extra seats go to those who hold the most already, and whoever holds no
 * more than its seats keeps everything. O(N + M log M), the same result for the same input anywhere.
 */
export function sticky({ members, total, current }: StrategyInput): Int32Array {
  const count = members.length;
  const seats = seatsFor(countHeld(current, count), total);
  const target = new Int32Array(total);
  const left = Int32Array.from(seats);
  const homeless: number[] = [];

  for (let item = 0; item < total; item++) {
    const holder = current[item]!;
    if (holder >= 0 && left[holder]! > 0) {
      target[item] = holder;
      left[holder]! -= 1;
    } else homeless.push(item);
  }
  let receiver = 0;
  for (const item of homeless) {
    while (left[receiver] === 0) receiver += 1;
    target[item] = receiver;
    left[receiver]! -= 1;
  }
  return target;
}

function countHeld(current: Int32Array, count: number): Int32Array {
  const held = new Int32Array(count);
  // Counted by index: iterating over a typed array of 100,000 costs several times as much.
  for (let item = 0; item < current.length; item++) {
    const holder = current[item]!;
    if (holder >= 0) held[holder]! += 1;
  }
  return held;
}

function seatsFor(held: Int32Array, total: number): Int32Array {
  const base = Math.floor(total / held.length);
  const extra = total % held.length;
  const seats = new Int32Array(held.length).fill(base);
  for (const member of largestFirst(held).subarray(0, extra)) seats[member]! += 1;
  return seats;
}

/** Members by what they hold, the first of equals first; sorted as plain numbers, which is much faster. */
function largestFirst(held: Int32Array): Float64Array {
  const count = held.length;
  const ranks = Float64Array.from(held, (holds, member) => member - holds * count);
  return ranks.sort().map((rank) => ((rank % count) + count) % count);
}
