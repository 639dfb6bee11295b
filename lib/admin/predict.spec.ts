import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { member, planOf } from '../../test/kit/plans.js';
import { type GroupConfig, newConfig } from '../coordinator/group-config.js';
import { StrategyBook } from '../coordinator/strategy-book.js';
import { silentLog } from '../registry/environment.js';
import { setDisabled, setDrained, setTotal } from './changes.js';
import { foresee, holders, predict, type Prediction } from './predict.js';

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

/** Who will hold what, as it is documented for whoever reads a prediction. */
function foretold(
  before: readonly (string | undefined)[],
  { total, moved, unplaced }: Prediction,
): (string | undefined)[] {
  const after = Array.from({ length: total }, (_, item) => before[item]);
  for (const item of unplaced) after[item] = undefined;
  for (const { item, to } of moved) after[item] = to;
  return after;
}

describe('a prediction', () => {
  it('says who gets what if an instance joins, and moves no more than it must', async () => {
    const plan = planOf('a1:5 a1:5 a1:5 b1:5 b1:5 b1:5');
    const join = [{ id: 'c' }];
    expect(await predict(plan, [member('a1'), member('b1')], config(6), { join }, book)).toEqual({
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

  it('gives what a leaver had to the others, and stops nothing for it', async () => {
    const plan = planOf('a1:5 a1:5 b1:5 b1:5');
    const members = [member('a1'), member('b1')];
    const { moved, stopped } = await predict(plan, members, config(4), { leave: ['a'] }, book);
    expect(moved).toEqual([
      { item: 0, from: 'a', to: 'b' },
      { item: 1, from: 'a', to: 'b' },
    ]);
    expect(stopped).toBe(0);
  });

  it('stops everything where the total changes, and counts every item as moved', async () => {
    const { members, plan } = settled(2, 4);
    const change = setTotal(6).apply;
    const { total, moves, stopped } = await predict(plan, members, config(4), { change }, book);
    expect({ total, moves, stopped }).toEqual({ total: 6, moves: 6, stopped: 4 });
  });

  it('tells what nobody would hold', async () => {
    const { members, plan } = settled(2, 4);
    const change = setDisabled({ items: [1] }, true).apply;
    expect((await predict(plan, members, config(4), { change }, book)).unplaced).toEqual([1]);
  });

  it('goes by waves where few may move at once', async () => {
    const { members, plan } = settled(2, 8);
    const limited = config(8, { maxMoves: 1 });
    const { moves, steps } = await predict(plan, members, limited, { join: [{ id: 'new' }] }, book);
    expect(moves).toBe(2);
    expect(steps).toBeGreaterThan(2);
  });

  it('waits out the dead, and acknowledges what is being let go', async () => {
    const plan = planOf('a1:5 a1:5!6 b1:5 b1:5', { settled: false });
    const { moved, settles } = await predict(plan, [member('a1')], config(4), {}, book);
    expect(settles).toBe(true);
    expect(moved.map(({ item }) => item)).toEqual([2, 3]);
  });

  it('gives back nothing to whoever is away: it stays away', async () => {
    const away = [{ id: 'b', window: 9_000, lends: false, weight: 1, labels: {} }];
    const homes = Int32Array.from([-1, 0]);
    const plan = planOf('a1:5 -', { away, homes });
    const { moved } = await predict(plan, [member('a1')], config(2), {}, book);
    expect(moved).toEqual([{ item: 1, to: 'a' }]);
    const back = await predict(plan, [member('a1')], config(2), { join: [{ id: 'b' }] }, book);
    expect(back.moved).toEqual([{ item: 1, to: 'b' }]);
  });

  it.each([
    ['somebody unknown who leaves', { leave: ['nobody'] }, /"nobody" cannot leave/],
    ['somebody who joins twice', { join: [{ id: 'a' }] }, /"a" cannot join/],
    ['a weight that is none', { join: [{ id: 'c', weight: Number.NaN }] }, /weight NaN/],
    ['an id that cannot be one', { join: [{ id: 'c/d' }] }, /"c\/d"/],
  ])('is refused for %s', async (_, whatIf, message) => {
    const plan = planOf('a1:5');
    await expect(predict(plan, [member('a1')], config(1), whatIf, book)).rejects.toThrow(message);
  });

  it('moves the fewest items, evenly, and nothing when it is asked again; and changes nothing', async () => {
    const counts = fc.record({
      members: fc.integer({ min: 1, max: 8 }),
      total: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(counts, async (count) => {
        const { members, plan } = settled(count.members, count.total);
        const before = JSON.stringify({ ...plan, owners: [...plan.owners] });
        const join = [{ id: 'new' }];
        const { moves, loads } = await predict(plan, members, config(count.total), { join }, book);
        expect(moves).toBe(Math.floor(count.total / (count.members + 1)));
        const sizes = loads.map(({ after }) => after);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count.total);
        const again = await predict(plan, members, config(count.total), {}, book);
        expect(again.steps).toBe(0);
        expect(JSON.stringify({ ...plan, owners: [...plan.owners] })).toBe(before);
      }),
    );
  });

  it('tells of every item who will hold it, and of some that nobody will', async () => {
    const worlds = fc.record({
      members: fc.integer({ min: 1, max: 5 }),
      total: fc.integer({ min: 1, max: 20 }),
      said: fc.array(fc.constantFrom({}, { cordoned: true }, { drained: true }, { weight: 3 })),
      disabled: fc.nat(30),
      wanted: fc.integer({ min: 1, max: 20 }),
      isOther: fc.boolean(),
    });
    let unplaced = 0;
    await fc.assert(
      fc.asyncProperty(worlds, async ({ members: count, total, said, disabled, ...draw }) => {
        const { members, plan } = settled(count, total);
        const instances = Object.fromEntries(
          said.slice(0, count).map((each, index) => [members[index]!.id, each]),
        );
        const items = { [disabled]: { disabled: true } };
        const change = (before: GroupConfig): GroupConfig => ({
          ...before,
          ...{ instances, items, total: draw.isOther ? draw.wanted : total },
        });
        const leave = [members[0]!.id];
        const told = await predict(plan, members, config(total), { leave, change }, book);
        const { end } = foresee(plan, members.slice(1), change(config(total)), book);
        const idsOf = (of: typeof end): (string | undefined)[] =>
          holders(of).map((holder) => holder?.id);
        expect(foretold(idsOf(plan), told)).toEqual(idsOf(end));
        unplaced += told.unplaced.length;
      }),
    );
    expect(unplaced).toBeGreaterThan(0);
  });

  it('names what is left without a holder when somebody leaves', async () => {
    const plan = planOf('a1:5 a1:5', { members: ['b1'] });
    const cordoned = config(2, { instances: { b: { cordoned: true } } });
    const leave = ['a'];
    const told = await predict(plan, [member('a1'), member('b1')], cordoned, { leave }, book);
    expect(told).toMatchObject({ moves: 0, moved: [], unplaced: [0, 1] });
  });

  it('lets others have their turn where it takes many steps', async () => {
    const plan = planOf(Array(1_000).fill('a1:5').join(' '), { members: ['b1'] });
    const limited = config(1_000, { maxMoves: 1 });
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    const { steps } = await predict(plan, [member('a1'), member('b1')], limited, {}, book);
    clearInterval(counting);
    expect(steps).toBeGreaterThan(900);
    expect(turns).toBeGreaterThan(1);
  });

  it('empties whoever is drained', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 1, max: 40 }),
        async (count, total) => {
          const { members, plan } = settled(count, total);
          const { id } = members[0]!;
          const change = setDrained(id, true).apply;
          const { loads } = await predict(plan, members, config(total), { change }, book);
          expect(loads.find((load) => load.id === id)?.after ?? 0).toBe(0);
        },
      ),
    );
  });
});
