import { describe, expect, it } from '@jest/globals';
import { type Freeze, smallestGap } from './freeze-lane.js';
import { gapsOf, rowOf, rowsWithoutGap, trials } from './freezes.js';

const frozen = (index: number, ...gaps: readonly (number | undefined)[]): Freeze => ({
  ...trials(index + 1)[index]!,
  wait: 1_500,
  gaps,
});

describe('freezes', () => {
  it('try each manner with each session timeout equally often', () => {
    const counts = new Map<string, number>();
    for (const row of trials(24).map(rowOf)) counts.set(row, (counts.get(row) ?? 0) + 1);
    expect(counts.size).toBe(12);
    expect([...counts.values()].every((count) => count === 2)).toBe(true);
    expect(trials(3).map(({ timeout }) => timeout)).toEqual([2_000, 4_000, 10_000]);
  });

  it('show nothing in a row in which nothing moved that had to', () => {
    const wanted = trials(12);
    const all = wanted.map((_, index) => frozen(index, 1_600, undefined));
    expect(rowsWithoutGap(wanted, all)).toEqual([]);
    const still = all.map((freeze, index) => (index < 3 ? frozen(index, undefined) : freeze));
    expect(rowsWithoutGap(wanted, still)).toEqual(['2 s, forth', '4 s, forth', '10 s, forth']);
    // With `back` alone the session goes on.
    expect(rowsWithoutGap(wanted, all.slice(0, 9))).toEqual([]);
    expect(rowsWithoutGap(wanted, all.slice(0, 8))).toEqual(['10 s, both']);
  });

  it('have their gaps in order, a gap of nothing included', () => {
    expect(gapsOf([frozen(0, 30, undefined), frozen(1, -5, 0)])).toEqual([-5, 0, 30]);
  });

  it('sees two holders at once as a negative gap', () => {
    const holding = (item: number, token: bigint, from: number, to: number) => ({
      ...{ item, token, from, to },
    });
    const former = [holding(0, 1n, 0, 500), holding(1, 1n, 0, 900)];
    const later = [holding(0, 2n, 700, 2_000), holding(1, 2n, 800, 2_000)];
    expect(smallestGap(former, later)).toBe(-100);
    expect(smallestGap(former, [])).toBeUndefined();
  });
});
