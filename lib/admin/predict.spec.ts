import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { member, planOf } from '../../test/kit/plans.js';
import { type GroupConfig, newConfig } from '../coordinator/group-config.js';
import { StrategyBook } from '../coordinator/strategy-book.js';
import { silentLog } from '../registry/environment.js';
import { setDisabled, setDrained, setTotal } from './changes.js';
import { foresee, predict } from './predict.js';

const book = new StrategyBook({}, 'group', silentLog);
const config = (total: number, change: Partial<GroupConfig> = {}): GroupConfig => ({
  ...newConfig(total, 'sticky'),
  ...change,
});

/** The settled plan of so many members. */
function settled(count: number, total: number) {
  const members = Array.from({ length: count }, (_, index) => member(`m${index}x1`));
  return { members, plan: foresee(undefined, members, config(total), book).end! };
}

describe('a prediction', () => {
  it('says who gets what if an instance joins, and moves no more than it must', () => {
    const plan = planOf('a1:5 a1:5 a1:5 b1:5 b1:5 b1:5');
    const join = [{ id: 'c' }];
    expect(predict(plan, [member('a1'), member('b1')], config(6), { join }, book)).toEqual({
      total: 6,
      moves: 2,
      moved: [
        { item: 2, from: 'a', to: 'c' },
        { item: 5, from: 'b', to: 'c' },
      ],
      stopped: 2,
      steps: 2,
      loads: [
        { id: 'a', before: 3, after: 2 },
        { id: 'b', before: 3, after: 2 },
        { id: 'c', before: 0, after: 2 },
      ],
      unplaced: [],
      settles: true,
    });
  });

  it('gives what a leaver had to the others, and stops nothing for it', () => {
    const plan = planOf('a1:5 a1:5 b1:5 b1:5');
    const members = [member('a1'), member('b1')];
    const { moved, stopped } = predict(plan, members, config(4), { leave: ['a'] }, book);
    expect(moved).toEqual([
      { item: 0, from: 'a', to: 'b' },
      { item: 1, from: 'a', to: 'b' },
    ]);
    expect(stopped).toBe(0);
  });

  it('stops everything where the total changes, and counts every item as moved', () => {
    const { members, plan } = settled(2, 4);
    const change = setTotal(6).apply;
    const { total, moves, stopped } = predict(plan, members, config(4), { change }, book);
    expect({ total, moves, stopped }).toEqual({ total: 6, moves: 6, stopped: 4 });
  });

  it('tells what nobody would hold', () => {
    const { members, plan } = settled(2, 4);
    const change = setDisabled({ items: [1] }, true).apply;
    expect(predict(plan, members, config(4), { change }, book).unplaced).toEqual([1]);
  });

  it('goes by waves where few may move at once', () => {
    const { members, plan } = settled(2, 8);
    const limited = config(8, { maxMoves: 1 });
    const { moves, steps } = predict(plan, members, limited, { join: [{ id: 'new' }] }, book);
    expect(moves).toBe(2);
    expect(steps).toBeGreaterThan(2);
  });

  it('waits out the dead, and acknowledges what is being let go', () => {
    const plan = planOf('a1:5 a1:5!6 b1:5 b1:5', { settled: false });
    const { moved, settles } = predict(plan, [member('a1')], config(4), {}, book);
    expect(settles).toBe(true);
    expect(moved.map(({ item }) => item)).toEqual([2, 3]);
  });

  it('gives back nothing to whoever is away: it stays away', () => {
    const away = [{ id: 'b', window: 9_000, lends: false, weight: 1, labels: {} }];
    const homes = Int32Array.from([-1, 0]);
    const plan = planOf('a1:5 -', { away, homes });
    expect(predict(plan, [member('a1')], config(2), {}, book).moved).toEqual([
      { item: 1, to: 'a' },
    ]);
    const back = predict(plan, [member('a1')], config(2), { join: [{ id: 'b' }] }, book);
    expect(back.moved).toEqual([{ item: 1, to: 'b' }]);
  });

  it.each([
    ['somebody unknown who leaves', { leave: ['nobody'] }, /"nobody" cannot leave/],
    ['somebody who joins twice', { join: [{ id: 'a' }] }, /"a" cannot join/],
    ['a weight that is none', { join: [{ id: 'c', weight: Number.NaN }] }, /weight NaN/],
    ['an id that cannot be one', { join: [{ id: 'c/d' }] }, /"c\/d"/],
  ])('is refused for %s', (_, whatIf, message) => {
    const plan = planOf('a1:5');
    expect(() => predict(plan, [member('a1')], config(1), whatIf, book)).toThrow(message);
  });

  it('moves the fewest items, evenly, and nothing when it is asked again; and changes nothing', () => {
    const counts = fc.record({
      members: fc.integer({ min: 1, max: 8 }),
      total: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(counts, (count) => {
        const { members, plan } = settled(count.members, count.total);
        const before = JSON.stringify({ ...plan, owners: [...plan.owners] });
        const join = [{ id: 'new' }];
        const { moves, loads } = predict(plan, members, config(count.total), { join }, book);
        expect(moves).toBe(Math.floor(count.total / (count.members + 1)));
        const sizes = loads.map(({ after }) => after);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count.total);
        expect(predict(plan, members, config(count.total), {}, book).steps).toBe(0);
        expect(JSON.stringify({ ...plan, owners: [...plan.owners] })).toBe(before);
      }),
    );
  });

  it('empties whoever is drained', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 1, max: 40 }),
        (count, total) => {
          const { members, plan } = settled(count, total);
          const { id } = members[0]!;
          const change = setDrained(id, true).apply;
          const { loads } = predict(plan, members, config(total), { change }, book);
          expect(loads.find((load) => load.id === id)?.after ?? 0).toBe(0);
        },
      ),
    );
  });
});
