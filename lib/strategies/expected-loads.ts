import { levelOut } from './fair-shares.js';
import type { PlacementClass } from './placement.js';

/** Overlapping classes give way to each other step by step; hardly any need more steps than this. */
const ROUNDS = 64;
const GOOD_ENOUGH = 1e-6;

/** How much of each class each of its members would get if items could be cut. */
export interface ExpectedLoads {
  /** By index of member, over all classes. */
  readonly loads: Float64Array;
  /** For each class, by position among its members. */
  readonly parts: readonly Float64Array[];
}

/**
 * What would be most even: class by class is levelled out around what the other classes put on the same
 * members, until nothing changes any more. It does not look at who holds what, so it is the same again
 * when its result has been carried out.
 */
export function expectLoads(
  classes: readonly PlacementClass[],
  amounts: Float64Array,
  weights: Float64Array,
): ExpectedLoads {
  const loads = new Float64Array(weights.length);
  const parts = classes.map(({ members }) => new Float64Array(members.length));
  if (classes.length < 2) return { loads, parts };
  for (let round = 0; round < ROUNDS; round++) {
    let change = 0;
    for (const [index, { members }] of classes.entries()) {
      const part = parts[index]!;
      const shares = levelOut(
        amounts[index]!,
        pick(weights, members),
        withoutPart(loads, part, members),
      );
      for (let at = 0; at < members.length; at++) {
        const difference = shares[at]! - part[at]!;
        loads[members[at]!]! += difference;
        part[at] = shares[at]!;
        change = Math.max(change, Math.abs(difference) / amounts[index]!);
      }
    }
    if (change < GOOD_ENOUGH) break;
  }
  return { loads, parts };
}

/** What the other classes put on the members of a class. */
export function withoutPart(
  loads: Float64Array,
  part: Float64Array,
  members: Int32Array,
): Float64Array {
  const others = new Float64Array(members.length);
  for (let at = 0; at < members.length; at++) others[at] = loads[members[at]!]! - part[at]!;
  return others;
}

export function pick(values: Float64Array, positions: Int32Array): Float64Array {
  const picked = new Float64Array(positions.length);
  for (let at = 0; at < positions.length; at++) picked[at] = values[positions[at]!]!;
  return picked;
}
