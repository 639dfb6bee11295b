import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { murmur3, murmur3OfText } from './murmur3.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('murmur3', () => {
  // The values that circulate with the algorithm (Wikipedia, SMHasher's issue tracker).
  it.each([
    ['', 0, 0x0000_0000],
    ['', 1, 0x514e_28b7],
    ['', 0xffff_ffff, 0x81f1_6f39],
    ['test', 0, 0xba6b_d213],
    ['test', 0x9747_b28c, 0x704b_81dc],
    ['Hello, world!', 0, 0xc036_3e43],
    ['Hello, world!', 0x9747_b28c, 0x2488_4cba],
    ['The quick brown fox jumps over the lazy dog', 0, 0x2e4f_f723],
    ['The quick brown fox jumps over the lazy dog', 0x9747_b28c, 0x2fa8_26cd],
    ['a', 0x9747_b28c, 0x7fa0_9ea6],
    ['aa', 0x9747_b28c, 0x5d21_1726],
    ['aaa', 0x9747_b28c, 0x283e_0130],
    ['aaaa', 0x9747_b28c, 0x5a97_808a],
    ['ππππππππ', 0x9747_b28c, 0xd580_63c1],
  ])('hashes %j with the seed %d as published', (text, seed, hash) => {
    expect(murmur3(utf8(text), seed)).toBe(hash);
    expect(murmur3OfText(text, seed)).toBe(hash);
  });

  it("gives SMHasher's verification value", () => {
    const hashes = Buffer.alloc(4 * 256);
    for (let length = 0; length < 256; length += 1) {
      const key = Uint8Array.from({ length }, (_, index) => index);
      hashes.writeUInt32LE(murmur3(key, 256 - length), 4 * length);
    }
    expect(murmur3(hashes)).toBe(0xb0f5_7ee3);
  });

  it('hashes text as its UTF-8 form, broken surrogates included', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
    );
    fc.assert(
      fc.property(text, fc.nat(), (value, seed) => {
        expect(murmur3OfText(value, seed)).toBe(murmur3(utf8(value), seed));
      }),
      { numRuns: 5_000 },
    );
  });
});
