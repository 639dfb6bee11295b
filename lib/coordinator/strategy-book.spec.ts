import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { silentLog } from '../registry/environment.js';
import { average, sticky } from '../strategies/index.js';
import { StrategyBook } from './strategy-book.js';

const members = ['a', 'b', 'c'].map((id) => ({ id, weight: 1, labels: {} }));
const input: StrategyInput = { members, total: 6, current: Int32Array.of(0, 0, 0, 0, 0, 2) };
const planned = (owners: ArrayLike<number>): number[] => Array.from(owners);

let said: string[];
const log = { ...silentLog, error: (message: string) => void said.push(message) };
const book = (own = {}) => new StrategyBook(own, 'group', log);

beforeEach(() => {
  said = [];
});

describe('StrategyBook', () => {
  it('has the built-in ones', () => {
    expect(planned(book().named('sticky')(input))).toEqual(planned(sticky(input)));
    expect(planned(book().named('average')(input))).toEqual(planned(average(input)));
    expect(said).toEqual([]);
  });

  it.each(['nobody-knows', 'constructor', '__proto__', ''])(
    'plans with sticky where the name is %j, and says what to do',
    (name) => {
      expect(planned(book().named(name)(input))).toEqual(planned(sticky(input)));
      expect(said).toEqual([
        expect.stringContaining(`The group's strategy "${name}" is not known`) as unknown,
      ]);
    },
  );

  it("takes one's own, and tells it the group's name", () => {
    let name: string | undefined;
    const last = (given: StrategyInput): number[] => {
      name = given.name;
      return Array.from(given.current, () => given.members.length - 1);
    };
    expect(planned(book({ last }).named('last')(input))).toEqual([2, 2, 2, 2, 2, 2]);
    expect(name).toBe('group');
    expect(said).toEqual([]);
  });

  it.each([
    ['is too short', () => [0], 'it returned 1 owners for 6 items'],
    ['names nobody', () => [0, 1, 2, 3, 0, 1], 'item 3 went to member 3, and there are 3'],
    ['leaves an item out', () => [0, 1, 2, -1, 0, 1], 'item 3 has no owner'],
    ['is nothing', () => undefined as never, 'it returned undefined instead of a list'],
    [
      'is none, since it threw',
      () => {
        throw new Error('no idea');
      },
      'it threw Error: no idea',
    ],
    [
      'was made by changing the input',
      ({ members: theirs }: StrategyInput) => {
        (theirs as unknown[]).pop();
        return [];
      },
      'it threw TypeError',
    ],
  ])('refuses a result that %s, says why, and plans with sticky', (_, bad, why) => {
    expect(planned(book({ bad }).named('bad')(input))).toEqual(planned(sticky(input)));
    expect(said).toEqual([expect.stringContaining(why) as unknown]);
    expect(said[0]).toContain('The strategy "bad" was not used');
  });

  it('complains once, and again after it has worked in between', () => {
    let isBroken = true;
    const mine = (given: StrategyInput): ArrayLike<number> => (isBroken ? [] : sticky(given));
    const strategy = book({ mine }).named('mine');
    strategy(input);
    strategy(input);
    expect(said).toHaveLength(1);
    isBroken = false;
    strategy(input);
    isBroken = true;
    strategy(input);
    expect(said).toHaveLength(2);
  });

  it('keeps its input from a strategy that writes to it', () => {
    const current = Int32Array.from(input.current);
    const rude = (given: StrategyInput): ArrayLike<number> => given.current.fill(1);
    expect(planned(book({ rude }).named('rude')({ ...input, current }))).toEqual(
      Array.from({ length: 6 }, () => 1),
    );
    expect(planned(current)).toEqual(planned(input.current));
  });
});
