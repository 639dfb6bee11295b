import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../kit/seeded-random.js';
import { rounds } from './schedule.js';

const FAULTS = [
  { name: 'often', weight: 50 },
  { name: 'seldom', weight: 1 },
  { name: 'never first', weight: 1 },
];

function draw(seed: number, count: number) {
  const schedule = rounds(new SeededRandom(seed), FAULTS);
  return Array.from({ length: count }, () => schedule.next().value(14_000));
}

describe('the schedule of faults', () => {
  it('is the same for the same seed', () => {
    const shown = (seed: number) =>
      draw(seed, 6).map((round) => round.map(({ at, names }) => [at, names]));
    expect(shown(1)).toEqual(shown(1));
    expect(shown(1)).not.toEqual(shown(2));
  });

  it('is full of faults in order of time, more of those that weigh more', () => {
    const [first] = draw(3, 1);
    expect(first!.length).toBeGreaterThan(8);
    const times = first!.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(first!.filter(({ names }) => names[0] === 'often').length).toBeGreaterThan(6);
    for (const { names } of first!) expect(names).toHaveLength(FAULTS.length);
  });

  it('gives each kind a round for itself', () => {
    const single = draw(4, 7).filter((round) => round.length === 1);
    const first: string[] = single.map((round) => round[0]!.names[0]!);
    expect(first.toSorted()).toEqual(FAULTS.map(({ name }) => name).toSorted());
  });

  it('leaves no round for itself empty where its kind is not possible', () => {
    for (const [appointment] of draw(4, 7).filter((round) => round.length === 1)) {
      expect(appointment!.names.toSorted()).toEqual(FAULTS.map(({ name }) => name).toSorted());
    }
  });
});
