import type { StrategyInput, StrategyMember } from '../interfaces/sharding-strategy.interface.js';
import { classesOf } from './placement.js';
import { scaledWeights } from './fair-shares.js';

/**
 * Highest random weight: every member draws a number for every item, from nothing but the two and the
 * group's name, and the best draw gets the item. No history is needed: whoever joins takes only what it
 * draws best, what a leaver had is all that moves when it goes, and a changed weight moves items only
 * to or from that member. A member's chance is its weight's part of those that may hold the item; so
 * shares are even on average only, and scatter by about the square root of what one holds.
 *
 * It respects demands; it knows neither weights of items nor zones. The cost is one hash for each item
 * and member, N × M: with 100,000 items and 1,000 members 100 million, which takes about a second,
 * two or three if weights differ. `sticky` needs a few milliseconds there.
 *
 * @publicApi
 */
export function rendezvous(input: StrategyInput): Int32Array {
  const { members, total, name = '' } = input;
  const target = new Int32Array(total).fill(-1);
  const seeds = Int32Array.from(members, ({ id }) => textSeed(id, textSeed(name, 0x9e37_79b9)));
  const salts = Int32Array.from(members, ({ id }) => textSeed(id, 0x7f4a_7c15));
  const weights = haveSameWeight(members) ? undefined : scaledWeights(members);
  for (const { members: allowed, items } of classesOf(input)) {
    for (let at = 0; at < items.length; at++) {
      const item = items[at]!;
      target[item] = weights
        ? bestWeighted(item, allowed, seeds, salts, weights)
        : best(item, allowed, seeds, salts);
    }
  }
  return target;
}

/** With equal weights the order of the draws is that of the hashes. */
function best(item: number, allowed: Int32Array, seeds: Int32Array, salts: Int32Array): number {
  const mixed = Math.imul(item + 1, 0x9e37_79b1);
  let winner = -1;
  let highest = -1;
  for (let at = 0; at < allowed.length; at++) {
    const member = allowed[at]!;
    const draw = drawOf(mixed, seeds[member]!, salts[member]!);
    if (draw <= highest) continue;
    highest = draw;
    winner = member;
  }
  return winner;
}

/**
 * The lowest -ln(u)/w wins, which is the same as the highest -w/ln(u). A logarithm costs more than the
 * hash, and -ln(u) is never below 1 - u: most members are out of it without one.
 */
function bestWeighted(
  item: number,
  allowed: Int32Array,
  seeds: Int32Array,
  salts: Int32Array,
  weights: Float64Array,
): number {
  const mixed = Math.imul(item + 1, 0x9e37_79b1);
  let winner = -1;
  let lowest = Infinity;
  for (let at = 0; at < allowed.length; at++) {
    const member = allowed[at]!;
    const chance = (drawOf(mixed, seeds[member]!, salts[member]!) + 0.5) / 2 ** 32;
    if (1 - chance >= lowest * weights[member]!) continue;
    const time = -Math.log(chance) / weights[member]!;
    if (time >= lowest) continue;
    lowest = time;
    winner = member;
  }
  return winner;
}

/** Two words of each member go in, so that two members hardly ever draw alike for every item. */
function drawOf(item: number, seed: number, salt: number): number {
  return mix(Math.imul(item ^ seed, 0x85eb_ca6b) ^ salt);
}

function textSeed(text: string, start: number): number {
  let hash = start | 0;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
    hash ^= hash >>> 15;
  }
  return mix(hash ^ text.length);
}

/** Every bit of the input changes about half the bits of the result. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x7feb_352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846c_a68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function haveSameWeight(members: readonly StrategyMember[]): boolean {
  return members.every(({ weight }) => weight === members[0]!.weight);
}
