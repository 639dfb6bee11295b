import { murmur3, murmur3OfText } from './murmur3.js';

/** What can be mapped to a shard. @publicApi */
export type ShardKey = string | number | Uint8Array;

/**
 * The shard of a key: MurmurHash3 (x86, 32 bits, seed 0, unsigned) modulo `total`, of the UTF-8 bytes
 * of a string, of a number's decimal string, of bytes as they are. So `7` and `'7'` are the same key.
 *
 * This mapping never changes: other processes, other languages and stored data rely on it.
 */
export function shardOf(key: ShardKey, total: number): number {
  return hashOf(key) % total;
}

function hashOf(key: ShardKey): number {
  if (typeof key === 'string') return murmur3OfText(key);
  if (typeof key === 'number' && Number.isFinite(key)) return murmur3OfText(String(key));
  if (isBytes(key)) return murmur3(key);
  throw new TypeError(
    `a shard key is a string, a finite number or a Uint8Array, not ${describe(key)}`,
  );
}

/** By its tag: bytes may come from another realm, such as a test runner's sandbox. */
function isBytes(key: unknown): key is Uint8Array {
  return ArrayBuffer.isView(key) && Object.prototype.toString.call(key) === '[object Uint8Array]';
}

function describe(key: unknown): string {
  if (key === null || key === undefined || typeof key === 'number') return String(key);
  return typeof key === 'object' ? 'an object' : `a ${typeof key}`;
}
