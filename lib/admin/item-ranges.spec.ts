import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatItems, formatSomeItems, parseItems } from './item-ranges.js';

describe('ranges of items', () => {
  it('are written as people write them', () => {
    expect(formatItems([])).toBe('');
    expect(formatItems([7])).toBe('7');
    expect(formatItems([0, 1, 2, 3, 7, 9, 10])).toBe('0-3, 7, 9-10');
  });

  it('are read as they were written', () => {
    const sets = fc.uniqueArray(fc.nat(300), { minLength: 1 });
    fc.assert(
      fc.property(sets, (items) => {
        const sorted = items.toSorted((a, b) => a - b);
        expect(parseItems(formatItems(sorted))).toEqual(sorted);
      }),
    );
  });

  it.each(['', '-1', '3-1', '1-2-3', 'a', '1,,2', '1.5', '99999999', '0x1'])(
    'are nothing else: %j',
    (text) => expect(parseItems(text)).toBeUndefined(),
  );

  it('may name all items that there can be, again and again', () => {
    expect(parseItems(Array(200).fill('0-999999').join(','))?.length).toBe(1_000_000);
    expect(parseItems('5-7,0-9,3')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('are cut where there are too many', () => {
    const items = Array.from({ length: 100 }, (_, index) => index * 2);
    expect(formatSomeItems(items, 20)).toBe('0, 2, 4, 6, 8, 10, … (100 items)');
    expect(formatSomeItems([1, 3], 20)).toBe('1, 3');
  });
});
