import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeConfig,
  encodeConfig,
  type GroupConfig,
  InvalidConfigError,
  isTotal,
  MAX_TOTAL,
  moveLimit,
  newConfig,
} from './group-config.js';

const decode = (value: unknown) => decodeConfig(Buffer.from(JSON.stringify(value)));

describe('the shared configuration', () => {
  it.each([1, 7, MAX_TOTAL, 'instances' as const])('is read as it was written: %j', (total) => {
    const config = newConfig(total, 'sticky');
    expect(decodeConfig(encodeConfig(config))).toEqual(config);
  });

  it('is made for people to look at', () => {
    const text = encodeConfig(newConfig(3, 'sticky')).toString();
    expect(text).toBe('{\n  "version": 1,\n  "total": 3,\n  "strategy": "sticky"\n}');
  });

  it.each(['', '{', 'total: 3', '\u0000'])('refuses %j, which is not JSON', (text) => {
    expect(() => decodeConfig(Buffer.from(text))).toThrow('not JSON');
  });

  it.each([{}, { version: 2, total: 3, strategy: 'sticky' }])(
    'refuses %j, which has another version or none',
    (value) => {
      expect(() => decode(value)).toThrow(/version is .*, expected 1/);
    },
  );

  it.each([undefined, null, 0, -1, 1.5, '3', MAX_TOTAL + 1, 'instance', true, [3]])(
    'refuses the total %j, and says what it should be',
    (total) => {
      expect(() => decode({ version: 1, total, strategy: 'sticky' })).toThrow(
        /total is .*, expected a whole number from 1 to 1000000 or "instances"/,
      );
      expect(isTotal(total)).toBe(false);
    },
  );

  it('refuses a total without end', () => {
    const text = '{"version":1,"total":1e999,"strategy":"sticky"}';
    expect(() => decodeConfig(Buffer.from(text))).toThrow(InvalidConfigError);
  });

  it.each([undefined, null, '', 1, ['sticky']])('refuses the strategy %j', (strategy) => {
    expect(() => decode({ version: 1, total: 3, strategy })).toThrow(/strategy is .*a name/);
  });

  it('is read as it was written, with all that can be said', () => {
    const config: GroupConfig = {
      total: 12,
      strategy: 'sticky',
      items: {
        0: { parameter: { shop: 'north' }, weight: 2.5 },
        3: { needs: { zone: 'a' } },
        7: { pin: 'ada', disabled: true },
      },
      instances: { ada: { weight: 0, cordoned: true }, 'b.c': { drained: true, disabled: false } },
      spreadOver: 'zone',
      paused: true,
      maxMoves: '25%',
    };
    expect(decodeConfig(encodeConfig(config))).toEqual(config);
  });

  it('leaves out what says nothing', () => {
    const config = { ...newConfig(3, 'sticky'), items: { 1: {} }, instances: { a: {} } };
    expect(encodeConfig(config)).toEqual(encodeConfig(newConfig(3, 'sticky')));
  });

  it.each<[Record<string, unknown>, RegExp]>([
    [{ totl: 3 }, /unknown key "totl"; known are version, total, /],
    [{ items: [] }, /items is \[\], expected an object/],
    [{ items: { x: {} } }, /items.x is not the number of an item/],
    [{ items: { '01': {} } }, /items.01 is not the number/],
    [{ items: { [MAX_TOTAL]: {} } }, /items.1000000 is not the number/],
    [
      { items: { 3: { wieght: 1 } } },
      /items.3 has the unknown key "wieght"; known are parameter, /,
    ],
    [{ items: { 3: { weight: 0 } } }, /items.3.weight is 0, expected a number greater than 0/],
    [{ items: { 3: { weight: null } } }, /items.3.weight is null/],
    [{ items: { 3: { needs: { zone: 1 } } } }, /items.3.needs is .*a string for each label/],
    [{ items: { 3: { pin: '' } } }, /items.3.pin is "", expected the id/],
    [{ instances: { a: { weight: -1 } } }, /instances.a.weight is -1, expected a number from 0/],
    [{ instances: { a: { cordoned: 'yes' } } }, /instances.a.cordoned is "yes", expected true/],
    [{ instances: { 'a/b': {} } }, /instances.a\/b is not the id of an instance/],
    [{ paused: 1 }, /paused is 1, expected true or false/],
    [{ maxMoves: 0 }, /maxMoves is 0, expected a whole number from 1, or a share/],
    [{ maxMoves: '101%' }, /maxMoves is "101%"/],
    [{ maxMoves: '2.5%' }, /maxMoves is "2.5%"/],
    [{ spreadOver: 1 }, /spreadOver is 1, expected the key of a label/],
  ])('refuses %j by naming the key and what it should be', (said, problem) => {
    expect(() => decode({ version: 1, total: 3, strategy: 'sticky', ...said })).toThrow(problem);
  });

  it('is not written where it could not be read again, or would be too large', () => {
    const config = newConfig(3, 'sticky');
    const nan = { ...config, items: { 1: { weight: NaN } } };
    expect(() => encodeConfig(nan)).toThrow(/items.1.weight is null/);
    const large = { ...config, items: { 1: { parameter: 'x'.repeat(900_000) } } };
    expect(() => encodeConfig(large)).toThrow(/it takes 900\d+ bytes, and a node may have 900000/);
  });

  it.each([
    [undefined, 1_000, Infinity],
    [7, 1_000, 7],
    ['25%', 1_000, 250],
    ['1%', 10, 1],
  ] as const)('lets %j of items move at once: of %d, %d', (maxMoves, total, most) => {
    const config = newConfig(total, 'sticky');
    expect(moveLimit(maxMoves === undefined ? config : { ...config, maxMoves }, total)).toBe(most);
  });

  it('fails in no other way, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (data) => {
        try {
          decodeConfig(Buffer.from(data));
        } catch (error) {
          if (!(error instanceof InvalidConfigError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
