/**
 * MurmurHash3, the x86 variant with 32 bits: https://github.com/aappleby/smhasher. The result is
 * unsigned. It decides which shard a key belongs to, so it gives the same in every release.
 */
export function murmur3(bytes: Uint8Array, seed = 0): number {
  const length = bytes.length;
  const whole = length - (length % 4);
  let hash = seed | 0;
  for (let at = 0; at < whole; at += 4) {
    const block =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = mixBlock(hash, block);
  }
  let tail = 0;
  for (let at = length - 1; at >= whole; at -= 1) tail = (tail << 8) | bytes[at]!;
  return finish(hash, tail, length);
}

/** The same of a string's UTF-8 form, which is never made: routing by key is a hot path. */
export function murmur3OfText(text: string, seed = 0): number {
  let hash = seed | 0;
  let block = 0;
  let filled = 0;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    let code = text.charCodeAt(at);
    if ((code & 0xf800) === 0xd800) {
      code = codePointAt(text, at);
      if (code > 0xffff) at += 1;
    }
    const bits = code < 0x80 ? 8 : code < 0x800 ? 16 : code < 0x1_0000 ? 24 : 32;
    const bytes = bits === 8 ? code : utf8(code);
    block |= bytes << filled;
    length += bits >> 3;
    if (filled + bits < 32) {
      filled += bits;
    } else {
      hash = mixBlock(hash, block);
      // A shift by 32 would be one by 0.
      block = filled === 0 ? 0 : bytes >>> (32 - filled);
      filled += bits - 32;
    }
  }
  return finish(hash, block, length);
}

/** A lone surrogate counts as U+FFFD, as it does for every encoder. */
function codePointAt(text: string, at: number): number {
  const code = text.codePointAt(at)!;
  return (code & 0xffff_f800) === 0xd800 ? 0xfffd : code;
}

/** The bytes of a code point from U+0080 on, the first in the lowest bits. */
function utf8(code: number): number {
  const last = 0x80 | (code & 0x3f);
  if (code < 0x800) return 0xc0 | (code >> 6) | (last << 8);
  const middle = 0x80 | ((code >> 6) & 0x3f);
  if (code < 0x1_0000) return 0xe0 | (code >> 12) | (middle << 8) | (last << 16);
  const second = 0x80 | ((code >> 12) & 0x3f);
  return 0xf0 | (code >> 18) | (second << 8) | (middle << 16) | (last << 24);
}

function mixBlock(hash: number, block: number): number {
  const mixed = hash ^ scramble(block);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe654_6b64) | 0;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e_2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b87_3593);
}

/** An empty tail scrambles to 0 and changes nothing. */
function finish(hash: number, tail: number, length: number): number {
  let mixed = hash ^ scramble(tail) ^ length;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
