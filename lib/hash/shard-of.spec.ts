import { describe, expect, it } from '@jest/globals';
import { shardOf } from './shard-of.js';

describe('shardOf', () => {
  // Facts, computed by another implementation: a change here would send every user's keys to other shards.
  it.each([
    ['customer-1', 1024, 676],
    ['customer-2', 1024, 743],
    ['', 1024, 0],
    ['zażółć gęślą jaźń', 1024, 714],
    ['🦊', 1024, 835],
    [42, 1024, 54],
    [-1.5, 1024, 519],
    [1e21, 1024, 429],
    [Uint8Array.of(0, 1, 2, 255), 1024, 788],
    ['customer-1', 1_000_000, 362_020],
  ])('maps %j of %d to %d, for ever', (key, total, item) => {
    expect(shardOf(key, total)).toBe(item);
  });

  it('takes a number for its decimal string', () => {
    expect(shardOf(42, 1_000_000)).toBe(shardOf('42', 1_000_000));
    expect(shardOf(-0, 1_000_000)).toBe(shardOf('0', 1_000_000));
  });

  it('takes a view of bytes for just these bytes', () => {
    const bytes = Buffer.from('..key..');
    expect(shardOf(bytes.subarray(2, 5), 1_000_000)).toBe(shardOf('key', 1_000_000));
  });

  it('spreads keys evenly', () => {
    const total = 16;
    const counts = Array.from({ length: total }, () => 0);
    for (let key = 0; key < 16_000; key += 1) counts[shardOf(`key-${key}`, total)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(880);
    expect(Math.max(...counts)).toBeLessThan(1_120);
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [Number.NaN, 'NaN'],
    [{ id: 1 }, 'an object'],
    [1n, 'a bigint'],
  ])('refuses %p', (key, shown) => {
    expect(() => shardOf(key as never, 8)).toThrow(
      `a shard key is a string, a finite number or a Uint8Array, not ${shown}`,
    );
  });
});
