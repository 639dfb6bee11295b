import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from './bytes.js';

class Refused extends Error {}

const readerOf = (bytes: Buffer): ByteReader =>
  new ByteReader(bytes, (reason) => new Refused(reason));

function written(write: (writer: ByteWriter) => void): Buffer {
  const writer = new ByteWriter(0);
  write(writer);
  return writer.finish();
}

describe('bytes', () => {
  it.each([
    [0, 1],
    [127, 1],
    [128, 2],
    [16_383, 2],
    [16_384, 3],
    [2 ** 31, 5],
    [2 ** 32 + 1, 5],
    [Date.UTC(2024, 0), 6],
    [Number.MAX_SAFE_INTEGER, 8],
  ])('writes %d in %d bytes and reads it again', (value, length) => {
    const bytes = written((writer) => writer.number(value));
    expect(bytes).toHaveLength(length);
    const reader = readerOf(bytes);
    expect(reader.number()).toBe(value);
    reader.end();
  });

  it('reads what was written, in any mixture and beyond the first capacity', () => {
    const part = fc.oneof(
      fc.maxSafeNat().map((value) => ({ kind: 'number' as const, value })),
      fc.string({ unit: 'binary' }).map((value) => ({ kind: 'text' as const, value })),
      fc.array(fc.nat(2 ** 24 - 1)).map((value) => ({ kind: 'plane' as const, value })),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const bytes = written((writer) => {
          for (const { kind, value } of parts) {
            if (kind === 'number') writer.number(value);
            else if (kind === 'text') writer.text(value);
            else for (const shift of [0, 8, 16]) writer.plane(Int32Array.from(value), shift);
          }
        });
        const reader = readerOf(bytes);
        for (const { kind, value } of parts) {
          if (kind === 'number') expect(reader.number()).toBe(value);
          else if (kind === 'text') expect(reader.text()).toBe(value);
          else {
            const into = new Int32Array(value.length);
            for (const shift of [0, 8, 16]) reader.plane(into, shift);
            expect(Array.from(into)).toEqual(value);
          }
        }
        reader.end();
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['a number that ends too early', [0x80], (reader: ByteReader) => reader.number()],
    ['no number at all', [], (reader: ByteReader) => reader.number()],
    [
      'a number beyond 2^53',
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
      (reader: ByteReader) => reader.number(),
    ],
    [
      'a number without an end',
      Array.from({ length: 400 }, () => 0x80),
      (reader: ByteReader) => reader.number(),
    ],
    ['a text shorter than it says', [3, 0x61, 0x62], (reader: ByteReader) => reader.text()],
    [
      'a text of 2^50 bytes',
      [...written((writer) => writer.number(2 ** 50)), 0x61],
      (reader: ByteReader) => reader.text(),
    ],
    ['a short plane', [1, 2], (reader: ByteReader) => reader.plane(new Int32Array(3), 0)],
    ['what is left over', [1], (reader: ByteReader) => reader.end()],
  ])('refuses %s', (_, bytes, read) => {
    expect(() => read(readerOf(Buffer.from(bytes)))).toThrow(Refused);
  });
});
