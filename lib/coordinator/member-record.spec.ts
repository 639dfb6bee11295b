import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeMember, encodeMember, type MemberRecord, newMemberRecord } from './member-record.js';

const instance = {
  id: 'a',
  ip: '10.0.0.1',
  pid: 7,
  address: 'http://a',
  weight: 2,
  labels: { zone: 'x' },
};
const record: MemberRecord = {
  ...newMemberRecord(instance, 'i1', {
    lease: 5_000,
    drainTimeout: 30_000,
    surrendered: 0,
    leaving: false,
    rejoinWindow: 60_000,
    lends: true,
  }),
  acked: 8,
  surrendered: 7,
};
const raw = JSON.parse(encodeMember(record, instance).toString()) as Record<string, unknown>;
const decode = (change: Record<string, unknown>): MemberRecord | undefined =>
  decodeMember('a', Buffer.from(JSON.stringify({ ...raw, ...change })));

describe('a member record', () => {
  it('begins with nothing promised', () => {
    const fresh = newMemberRecord(instance, 'i1', {
      lease: 1,
      drainTimeout: 2,
      surrendered: 0,
      leaving: true,
      rejoinWindow: 0,
      lends: false,
    });
    expect(fresh).toMatchObject({ acked: 0, surrendered: 0, leaving: true, lease: 1 });
  });

  it('is read as it was written', () => {
    expect(decodeMember('a', encodeMember(record, instance))).toEqual(record);
    const bare = { ...record, address: undefined, labels: {}, weight: 0.5, lease: 1.5 };
    expect(decodeMember('a', encodeMember(bare, instance))).toEqual(bare);
  });

  it('carries what the original system’s tools look for', () => {
    expect(raw).toMatchObject({ instanceId: 'a', serverIp: '10.0.0.1', pid: 7 });
  });

  it.each(['', '{', 'null', '1', '"a"', '[]', '{}', 'true', 'instanceId: a\nserverIp: x'])(
    'is none: %j',
    (text) => {
      expect(decodeMember('a', Buffer.from(text))).toBeUndefined();
    },
  );

  it('is none under another id', () => {
    expect(decodeMember('b', encodeMember(record, instance))).toBeUndefined();
  });

  const numbers = ['weight', 'format', 'lease', 'drainTimeout', 'acked', 'surrendered'];
  it.each(numbers.flatMap((key) => [undefined, null, '1', -1, true, [], {}].map((v) => [key, v])))(
    'is none if %s is %j',
    (key, value) => {
      expect(decode({ [key as string]: value })).toBeUndefined();
    },
  );

  it.each(numbers)('is none if %s is without end: it would end up in every plan', (key) => {
    const text = JSON.stringify({ ...raw, [key]: 'END' }).replace('"END"', '1e999');
    expect(JSON.parse(text)).toHaveProperty(key, Infinity);
    expect(decodeMember('a', Buffer.from(text))).toBeUndefined();
  });

  it.each(['acked', 'surrendered'])('is none if %s leaves no room for a larger epoch', (key) => {
    for (const value of [0.5, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e300]) {
      expect(decode({ [key]: value })).toBeUndefined();
    }
    expect(decode({ [key]: 2 ** 50 })).toBeDefined();
  });

  it.each([
    ['incarnation', ''],
    ['incarnation', 1],
    ['incarnation', undefined],
    ['leaving', 'no'],
    ['leaving', undefined],
    ['instanceId', 1],
  ])('is none if %s is %j', (key, value) => {
    expect(decode({ [key]: value })).toBeUndefined();
  });

  it('does without an address and labels that it cannot use', () => {
    expect(decode({ address: 1 })?.address).toBeUndefined();
    for (const labels of [null, 1, 'x', { zone: 1 }])
      expect(decode({ labels })?.labels).toEqual({});
  });

  it('ignores what later releases add', () => {
    expect(decode({ colour: 'red' })).toEqual(record);
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          decodeMember('a', Buffer.from(bytes));
        },
      ),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(raw)), fc.jsonValue(), (key, value) => {
        const decoded = decode({ [key]: value });
        if (decoded) expect(decoded.acked + decoded.surrendered).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 1_000 },
    );
  });
});
