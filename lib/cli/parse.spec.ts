import { describe, expect, it } from '@jest/globals';
import { UsageError } from './exit-codes.js';
import {
  itemsOf,
  joiningOf,
  labelsOf,
  limitOf,
  limitOfHistory,
  numberOf,
  parameterOf,
  secondsOf,
  totalOf,
  weightOf,
} from './parse.js';

describe('what is given on the command line', () => {
  it('is understood', () => {
    expect(totalOf('12')).toBe(12);
    expect(totalOf('instances')).toBe('instances');
    expect(itemsOf('0-2, 7')).toEqual([0, 1, 2, 7]);
    expect(limitOf('25%')).toBe('25%');
    expect(limitOf('5')).toBe(5);
    expect(labelsOf(['zone=a,disk=ssd', 'url=a=b'])).toEqual({
      zone: 'a',
      disk: 'ssd',
      url: 'a=b',
    });
    expect(joiningOf('dora')).toEqual({ id: 'dora' });
    expect(joiningOf('dora=1.5')).toEqual({ id: 'dora', weight: 1.5 });
    expect(weightOf('k=v=2')).toEqual(['k=v', 2]);
    expect(secondsOf('1.5')).toBe(1_500);
    expect(secondsOf(undefined)).toBeUndefined();
  });

  it('may be JSON or any other text where it is a parameter', () => {
    expect(parameterOf('{"a":1}')).toEqual({ a: 1 });
    expect(parameterOf('7')).toBe(7);
    expect(parameterOf('"7"')).toBe('7');
    expect(parameterOf('eu-west')).toBe('eu-west');
  });

  it.each<[string, () => unknown]>([
    ['no number', () => numberOf('it', 'abc')],
    ['an empty number', () => numberOf('it', '')],
    ['a number of another kind', () => totalOf('0x10')],
    ['no number at all', () => totalOf('NaN')],
    ['no items', () => itemsOf('all')],
    ['no label', () => labelsOf(['zone'])],
    ['no weight', () => weightOf('ada')],
    ['an empty weight', () => weightOf('ada=')],
    ['a negative time', () => secondsOf('-1')],
  ])('is refused where it is %s', (_, parse) => {
    expect(parse).toThrow(expect.objectContaining({ name: 'UsageError' }));
  });
});

describe('what would not be kept as it is', () => {
  it.each(['1234567890123456789', '{"id":12345678901234567890}', '[1e400]', '0.12345678901234567'])(
    'is refused as a parameter: %s',
    (text) => expect(() => parameterOf(text)).toThrow(UsageError),
  );

  it.each([
    '7',
    '1.50',
    '1e-7',
    '-0.1',
    '"1234567890123456789"',
    '{"a\\"1":[1e21,0]}',
    '9007199254740991',
  ])('is none of: %s', (text) => expect(parameterOf(text)).toEqual(JSON.parse(text)));

  it.each(['0', '-1', '1.5', 'x'])('is no limit of a history: %s', (text) => {
    expect(() => limitOfHistory(text)).toThrow(UsageError);
  });

  it('is no time that a timer has, and no item that a group can have', () => {
    expect(() => secondsOf('3000000')).toThrow(UsageError);
    expect(() => itemsOf('0-9999999')).toThrow(UsageError);
    expect(itemsOf('999999')).toEqual([999_999]);
  });
});
