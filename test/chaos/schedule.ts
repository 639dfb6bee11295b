import { SeededRandom } from '../kit/seeded-random.js';

/** A fault to come: what it is depends on what is possible by then. */
export interface Appointment {
  /** Milliseconds after the begin of its round. */
  readonly at: number;
  /** The first of these that is possible happens. */
  readonly names: readonly string[];
  /** For its victims, its length and whatever else it draws. */
  readonly random: SeededRandom;
}

interface Weighted {
  readonly name: string;
  readonly weight: number;
}

/** Mean milliseconds between two faults of a round. */
const EVERY = 1_150;

/** A round of faults: from the seed alone, whatever happens meanwhile. */
export function drawRound(
  random: SeededRandom,
  faults: readonly Weighted[],
  length: number,
): Appointment[] {
  const count = Math.max(1, Math.round(length / EVERY));
  return Array.from({ length: count }, () => ({
    at: random.below(length),
    names: weightedOrder(random, faults),
    random: new SeededRandom(random.below(2 ** 32)),
  })).toSorted((a, b) => a.at - b.at);
}

/** All of them in random order; whatever weighs more tends to come first. */
export function weightedOrder(random: SeededRandom, faults: readonly Weighted[]): string[] {
  return faults
    .map(({ name, weight }) => ({ name, key: random.fraction() ** (1 / weight) }))
    .toSorted((a, b) => b.key - a.key)
    .map(({ name }) => name);
}
