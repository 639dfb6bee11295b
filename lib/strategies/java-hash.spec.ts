import { describe, expect, it } from '@jest/globals';
import { javaHash } from './java-hash.js';

describe('javaHash', () => {
  // By hand: the sum of each unit times 31 to the power of its distance from the end, modulo 2³².
  it.each([
    ['', 0],
    ['a', 97],
    ['ab', 97 * 31 + 98],
    ['abc', 96_354],
    // 122 · (31⁶ - 1) / 30 = 3,609,181,632, which is above 2³¹.
    ['zzzzzz', 3_609_181_632 - 2 ** 32],
    // U+1F98A is the units D83E and DD8A.
    ['🦊', 0xd83e * 31 + 0xdd8a],
    ['polygenelubricants', -(2 ** 31)],
  ])('hashes %j as Java does', (text, hash) => {
    expect(javaHash(text)).toBe(hash);
  });
});
