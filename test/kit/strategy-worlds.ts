import fc from 'fast-check';
import type {
  Demand,
  StrategyInput,
  StrategyMember,
} from '../../lib/interfaces/sharding-strategy.interface.js';

/** Members with these weights, and labels if any; their ids sort as they stand. */
export function membersOf(
  weights: readonly number[],
  labels: readonly Readonly<Record<string, string>>[] = [],
): StrategyMember[] {
  return weights.map((weight, index) => ({
    id: `m${String(index).padStart(4, '0')}`,
    weight,
    labels: labels[index] ?? {},
  }));
}

export function equalMembers(count: number): StrategyMember[] {
  return membersOf(Array.from({ length: count }, () => 1));
}

export function countHeld(items: ArrayLike<number>, count: number): number[] {
  const held = Array.from({ length: count }, () => 0);
  for (const holder of Array.from(items)) if (holder >= 0) held[holder]! += 1;
  return held;
}

export function movesBetween(before: ArrayLike<number>, after: ArrayLike<number>): number {
  return Array.from(before).filter((holder, item) => holder !== after[item]).length;
}

/** Cheap enough for a hundred thousand times, unlike `expect`. */
export function isSame(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/** What everyone who ends with these counts has to move at least: what nobody has, and what is too much. */
export function movesTo(counts: readonly number[], current: ArrayLike<number>): number {
  const held = countHeld(current, counts.length);
  const orphans = Array.from(current).filter((holder) => holder < 0).length;
  return counts.reduce((moves, count, member) => {
    return moves + Math.max(0, held[member]! - count);
  }, orphans);
}

/** Every way to choose one of two whole numbers around each exact share n·w/W, if the sum is right. */
export function quotaCounts(total: number, weights: readonly number[]): number[][] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let found: number[][] = [[]];
  for (const weight of weights) {
    const lower = Math.floor((total * weight) / whole);
    const isExact = (total * weight) % whole === 0;
    found = found.flatMap((counts) =>
      isExact
        ? [[...counts, lower]]
        : [
            [...counts, lower],
            [...counts, lower + 1],
          ],
    );
  }
  return found.filter((counts) => counts.reduce((sum, count) => sum + count, 0) === total);
}

const ZONES = ['a', 'b', 'c'];
const DISKS = ['fast', 'slow'];

const labelsArbitrary = fc.record(
  { zone: fc.constantFrom(...ZONES), disk: fc.constantFrom(...DISKS) },
  { requiredKeys: [] },
);

export const demandArbitrary = (memberCount: number): fc.Arbitrary<Demand> =>
  fc.oneof(
    { weight: 3, arbitrary: labelsArbitrary.map((labels) => ({ labels })) },
    {
      weight: 1,
      // One more than there are: a pin to somebody who is not here.
      arbitrary: fc
        .integer({ min: 0, max: memberCount })
        .map((index) => ({ id: `m${String(index).padStart(4, '0')}` })),
    },
    { weight: 1, arbitrary: fc.constant({}) },
  );

/** Which of the modes a world may use. */
export interface WorldLimits {
  readonly members: number;
  readonly total: number;
  readonly weight?: number;
  readonly itemWeight?: fc.Arbitrary<number>;
  readonly demands?: number;
  readonly spread?: boolean;
}

/** Any input within the limits. */
export function worldArbitrary(limits: WorldLimits): fc.Arbitrary<StrategyInput> {
  const { demands = 0, spread = false, weight = 1, itemWeight } = limits;
  return fc
    .record({
      weights: fc.array(fc.integer({ min: 1, max: weight }), {
        minLength: 1,
        maxLength: limits.members,
        size: 'max',
      }),
      total: fc.integer({ min: 0, max: limits.total }),
    })
    .chain(({ weights, total }) => {
      const perItem = <T>(arbitrary: fc.Arbitrary<T>) =>
        fc.array(arbitrary, { minLength: total, maxLength: total });
      return fc
        .record({
          labels: fc.array(labelsArbitrary, {
            minLength: weights.length,
            maxLength: weights.length,
          }),
          current: perItem(fc.integer({ min: -1, max: weights.length - 1 })),
          itemWeights: perItem(itemWeight ?? fc.constant(1)),
          demands: fc.array(demandArbitrary(weights.length), { maxLength: demands }),
          demandOf: perItem(fc.integer({ min: -1, max: Math.max(-1, demands - 1) })),
        })
        .map((world): StrategyInput => ({
          members: membersOf(weights, world.labels),
          total,
          current: Int32Array.from(world.current),
          ...(itemWeight && { itemWeights: Float64Array.from(world.itemWeights) }),
          ...(demands > 0 && {
            demands: world.demands,
            demandOf: Int32Array.from(world.demandOf, (demand) =>
              demand < world.demands.length ? demand : -1,
            ),
          }),
          ...(spread && { spreadOver: 'zone' }),
        }));
    });
}
