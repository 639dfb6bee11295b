import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeConfig,
  encodeConfig,
  isTotal,
  MAX_TOTAL,
  UnreadableConfigError,
} from './group-config.js';

const decode = (value: unknown) => decodeConfig(Buffer.from(JSON.stringify(value)));

describe('the shared configuration', () => {
  it.each([1, 7, MAX_TOTAL, 'instances' as const])('is read as it was written: %j', (total) => {
    const config = { total, strategy: 'sticky' };
    expect(decodeConfig(encodeConfig(config))).toEqual(config);
  });

  it('is made for people to look at', () => {
    const text = encodeConfig({ total: 3, strategy: 'sticky' }).toString();
    expect(text).toBe('{\n  "version": 1,\n  "total": 3,\n  "strategy": "sticky"\n}');
  });

  it.each(['', '{', 'total: 3', '\u0000'])('refuses %j, which is not JSON', (text) => {
    expect(() => decodeConfig(Buffer.from(text))).toThrow('not JSON');
  });

  it.each([null, 1, 'x', [], {}, { version: 2, total: 3, strategy: 'sticky' }])(
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
    expect(() => decodeConfig(Buffer.from(text))).toThrow(UnreadableConfigError);
  });

  it.each([undefined, null, '', 1, ['sticky']])('refuses the strategy %j', (strategy) => {
    expect(() => decode({ version: 1, total: 3, strategy })).toThrow(/strategy is .*a name/);
  });

  it('ignores what later releases add', () => {
    const config = { version: 1, total: 3, strategy: 'sticky', paused: true };
    expect(decode(config)).toEqual({ total: 3, strategy: 'sticky' });
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
          if (!(error instanceof UnreadableConfigError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
