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
function drawRound(
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

/**
 * Rounds without end. After two that are full of faults two of a single one, each kind in its turn: only
 * there can be seen what a fault does by itself.
 */
export function* rounds(
  random: SeededRandom,
  faults: readonly Weighted[],
): Generator<(length: number) => Appointment[], never> {
  for (;;) {
    const order = weightedOrder(random, faults);
    for (let turn = 0; turn < order.length; turn += 2) {
      yield (length) => drawRound(random, faults, length);
      yield (length) => drawRound(random, faults, length);
      for (const name of order.slice(turn, turn + 2)) {
        // Where it is not possible, another one has the round.
        const names = [name, ...order.filter((other) => other !== name)];
        yield () => [{ at: 0, names, random: new SeededRandom(random.below(2 ** 32)) }];
      }
    }
  }
}

/** All of them in random order; whatever weighs more tends to come first. */
function weightedOrder(random: SeededRandom, faults: readonly Weighted[]): string[] {
  return faults
    .map(({ name, weight }) => ({ name, key: random.fraction() ** (1 / weight) }))
    .toSorted((a, b) => b.key - a.key)
    .map(({ name }) => name);
}
