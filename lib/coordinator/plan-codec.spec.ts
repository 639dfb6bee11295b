import assert from 'node:assert/strict';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { factsOf, member, planOf } from '../../test/kit/plans.js';
import { SeededRandom } from '../../test/kit/seeded-random.js';
import { ByteWriter } from './bytes.js';
import { MAX_TOTAL, newConfig } from './group-config.js';
import type { MemberRecord } from './member-record.js';
import type { Plan } from './plan.js';
import { decodePlan, encodePlan, MAX_PLAN_BYTES, UnreadablePlanError } from './plan-codec.js';
import { next } from './planner.js';

const name = fc.string({ unit: 'binary', maxLength: 12 });
const lease = fc.oneof(fc.nat(60_000), fc.double({ min: 0, max: 1e6, noNaN: true }));

const rejoin = {
  window: fc.nat(),
  lends: fc.boolean(),
  weight: fc.nat(9),
  labels: fc.dictionary(name, name, { maxKeys: 2 }),
};
const memberArbitrary = fc.record(
  { id: name, lease, address: name, rejoin: fc.record(rejoin) },
  { requiredKeys: ['id', 'lease'] },
);

/** Any plan that could have been written, and some that could not. */
const planArbitrary = (maxTotal = 40): fc.Arbitrary<Plan> =>
  fc
    .record({
      epoch: fc.integer({ min: 3, max: Number.MAX_SAFE_INTEGER }),
      nonce: name,
      office: fc.record({
        id: name,
        incarnation: name,
        lease,
        term: fc.maxSafeNat(),
        owed: lease,
      }),
      nextTotal: fc.nat(1_000),
      settled: fc.boolean(),
      members: fc.array(memberArbitrary, { maxLength: 6 }),
      away: fc.array(fc.record({ id: name, ...rejoin }), { maxLength: 3 }),
      items: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: maxTotal }),
    })
    .map(({ items, members, ...head }) => {
      const total = items.length;
      const owners = Int32Array.from(items, ([owner]) => (owner % (members.length + 1)) - 1);
      const tokens = Float64Array.from(items, ([, token], item) =>
        owners[item]! < 0 ? 0 : 1 + (token % (head.epoch - 1)),
      );
      const marks = Float64Array.from(items, ([, , mark], item) =>
        owners[item]! < 0 || mark % 3 > 0
          ? 0
          : tokens[item]! + 1 + (mark % (head.epoch - tokens[item]!)),
      );
      const homes = Int32Array.from(items, ([home]) => (home % (head.away.length + 1)) - 1);
      const named = members.map((each, index) => ({ ...each, incarnation: `i${index}` }));
      return { ...head, total, members: named, owners, tokens, marks, homes };
    });

/** Decodes, or gives undefined for what is refused in the right way; anything else is thrown. */
function decodeOrRefuse(document: Buffer): Plan | undefined {
  try {
    return decodePlan(document);
  } catch (error) {
    if (!(error instanceof UnreadablePlanError)) throw error;
    return undefined;
  }
}

function assertConsistent(plan: Plan): void {
  const { total, owners, tokens, marks, homes, away, members, epoch } = plan;
  assert([owners, tokens, marks, homes].every(({ length }) => length === total));
  for (let item = 0; item < total; item++) {
    const [owner, token, mark] = [owners[item]!, tokens[item]!, marks[item]!];
    assert(owner >= -1 && owner < members.length, `item ${item}: owner ${owner}`);
    assert(owner < 0 ? token === 0 : token > 0 && token <= epoch, `item ${item}: token ${token}`);
    assert(homes[item]! >= -1 && homes[item]! < away.length, `item ${item}: home ${homes[item]}`);
    assert(mark === 0 || (owner >= 0 && mark > token && mark <= epoch), `item ${item}: ${mark}`);
  }
}

/** The same plan, but for the records of fast-check, which have no prototype. */
function withPrototypes(plan: Plan): Plan {
  const { office, members, away } = plan;
  const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  return { ...plan, office: plain(office), members: plain(members), away: plain(away) };
}

/** A document with this head and these bytes behind it. */
function documentOf(head: unknown, body: readonly number[] = [], isDeflated = false): Buffer {
  const writer = new ByteWriter(0);
  writer.text(typeof head === 'string' ? head : JSON.stringify(head));
  const raw = Buffer.concat([writer.finish(), Buffer.from(body)]);
  return Buffer.concat([
    Buffer.from([0x4e, 0x44, 0x53, 1, isDeflated ? 1 : 0]),
    isDeflated ? deflateRawSync(raw) : raw,
  ]);
}

const HEAD = {
  epoch: 9,
  nonce: 'n',
  office: { id: 'a', incarnation: 'a1', lease: 5, term: 4, owed: 0 },
  total: 2,
  nextTotal: 2,
  settled: true,
  members: [['a', 'a1', 5]],
};
const AWAY = { id: 'b', window: 5, lends: true, weight: 1, labels: {} };
interface Parts {
  readonly owners?: readonly number[];
  /** How much older each token is than the one before, the first than the epoch. */
  readonly table?: readonly number[];
  /** For each member the distances between the places of its tokens in the table. */
  readonly own?: readonly (readonly number[])[];
  readonly ranks?: readonly number[];
  /** The distance from the item before, and the age. */
  readonly marks?: readonly (readonly [number, number])[];
  /** The distance from the item before, and whose it is. */
  readonly homes?: readonly (readonly [number, number])[];
}
/** Two items of a1, granted by epoch 8; no marks. */
const bodyOf = ({
  owners = [1, 1],
  table = [1],
  own = [[0]],
  ranks = [0, 0],
  marks = [],
  homes = [],
}: Parts = {}): number[] => [
  ...owners,
  table.length,
  ...table,
  ...own.flatMap((places) => [places.length, ...places]),
  Math.max(...ranks),
  ...ranks,
  marks.length,
  ...marks.flat(),
  homes.length,
  ...homes.flat(),
];
const BODY = bodyOf();
const large = (): Plan =>
  planOf(Array.from({ length: 6_000 }, (_, item) => (item % 2 ? 'a1:5' : 'b1:7!8')).join(' '));

describe('the plan codec', () => {
  it('gives back every plan that it wrote (2,000 cases)', () => {
    fc.assert(
      fc.property(planArbitrary(), (plan) => {
        const copy = decodePlan(encodePlan(plan));
        assert.deepEqual(copy, withPrototypes(plan));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([0, 1, 254, 255, 256, 65_535, 65_536])('gives back a plan of %d members', (count) => {
    const members = Array.from({ length: count }, (_, index) => ({
      id: `${index}`,
      incarnation: `i${index}`,
      lease: 1,
    }));
    const owners = Int32Array.from([-1, 0, count - 1, count >> 1].filter((owner) => owner < count));
    const plan = {
      ...planOf(''),
      total: owners.length,
      members,
      owners,
      tokens: owners.map((owner) => (owner < 0 ? 0 : 1)),
      marks: new Float64Array(owners.length),
    } as unknown as Plan;
    const copy = decodePlan(encodePlan(plan));
    expect(Array.from(copy.owners)).toEqual(Array.from(owners));
    expect(copy.members).toHaveLength(count);
  });

  it('gives back a member with more than 256 different tokens', () => {
    const plan = planOf(Array.from({ length: 700 }, (_, item) => `a1:${item + 1}`).join(' '));
    expect(decodePlan(encodePlan(plan))).toEqual(plan);
  });

  it('reads as many items as a group can have, and not one more', () => {
    const free = (total: number): Plan => ({
      ...planOf(''),
      total,
      nextTotal: total,
      owners: new Int32Array(total).fill(-1),
      tokens: new Float64Array(total),
      marks: new Float64Array(total),
    });
    expect(decodeOrRefuse(encodePlan(free(MAX_TOTAL)))?.total).toBe(MAX_TOTAL);
    const larger = { ...free(MAX_TOTAL + 1), nextTotal: 1 };
    expect(decodeOrRefuse(encodePlan(larger))).toBeUndefined();
    const growing = { ...planOf('a1:5'), nextTotal: MAX_TOTAL + 1 };
    expect(decodeOrRefuse(encodePlan(growing))).toBeUndefined();
  });

  it('deflates a large plan, and gives it back', () => {
    const plan = large();
    const document = encodePlan(plan);
    expect(document[4]).toBe(1);
    expect(document.length).toBeLessThan(1_000);
    expect(decodePlan(document)).toEqual(plan);
  });

  it('refuses every truncation and every byte too many', () => {
    const documents = fc.sample(planArbitrary(12), { numRuns: 20, seed: 4 }).map(encodePlan);
    for (const document of [...documents, encodePlan(large())]) {
      for (let length = 0; length < document.length; length++) {
        expect(decodeOrRefuse(document.subarray(0, length))).toBeUndefined();
      }
      for (const extra of [0, 1, 255]) {
        const longer = Buffer.concat([document, Buffer.from([extra])]);
        expect(decodeOrRefuse(longer)).toBeUndefined();
      }
    }
  });

  it('refuses a damaged plan, or reads something consistent from it; never fails otherwise (10,000 cases)', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    const sources = [
      ...fc.sample(planArbitrary(12), { numRuns: 50, seed: 7 }),
      planOf('a1:5 b1:7!8 -', { members: ['c1'] }),
      large(),
    ].map(encodePlan);
    fc.assert(
      fc.property(fc.constantFrom(...sources), damage, (source, flips) => {
        const document = Buffer.from(source);
        for (const [place, bits] of flips) document[place % document.length]! ^= bits;
        const plan = decodeOrRefuse(document);
        if (plan) assertConsistent(plan);
      }),
      { numRuns: 10_000 },
    );
  });

  it('refuses random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, hasHeader) => {
        const header = hasHeader ? [0x4e, 0x44, 0x53, 1, bytes[0]! & 1] : [];
        assert.equal(decodeOrRefuse(Buffer.from([...header, ...bytes])), undefined);
      }),
      { numRuns: 2_000 },
    );
  });

  it('says of a newer format that it is newer, and what to do', () => {
    const document = encodePlan(planOf('a1:5'));
    document[3] = 2;
    let problem: unknown;
    try {
      decodePlan(document);
    } catch (error) {
      problem = error;
    }
    expect(problem).toBeInstanceOf(UnreadablePlanError);
    expect(problem).toMatchObject({
      isNewer: true,
      message: expect.stringMatching(/format 2.*formats up to 1.*update nestjs-dynamic-sharding/),
    });
  });

  it('does not call garbage newer', () => {
    for (const garbage of ['', 'NDS', 'hello, world', '{"format":2}']) {
      let problem: unknown;
      try {
        decodePlan(Buffer.from(garbage));
      } catch (error) {
        problem = error;
      }
      expect(problem).toMatchObject({ name: 'UnreadablePlanError', isNewer: false });
    }
  });

  it('reads the document that the cases below are made from', () => {
    expect(decodeOrRefuse(documentOf(HEAD, BODY))).toMatchObject({ epoch: 9, total: 2 });
    expect(decodeOrRefuse(documentOf(HEAD, BODY, true))).toMatchObject({ epoch: 9, total: 2 });
    const parts: Parts = { table: [0, 2], own: [[0, 1]], ranks: [0, 1], marks: [[1, 1]] };
    const plan = decodeOrRefuse(documentOf(HEAD, bodyOf(parts)))!;
    expect([...plan.tokens, ...plan.marks]).toEqual([9, 7, 0, 8]);
    const { homes } = decodeOrRefuse(
      documentOf({ ...HEAD, away: [AWAY] }, bodyOf({ homes: [[1, 0]] })),
    )!;
    expect([...homes]).toEqual([-1, 0]);
  });

  it.each([
    ['a format that never was', Object.assign(documentOf(HEAD, BODY), { 3: 0 })],
    ['an unknown compression', Object.assign(documentOf(HEAD, BODY, true), { 4: 2 })],
    ['a plain body called deflated', Object.assign(documentOf(HEAD, BODY), { 4: 1 })],
    ['a home with nobody', documentOf(HEAD, bodyOf({ homes: [[0, 0]] }))],
    [
      'two homes',
      documentOf(
        { ...HEAD, away: [AWAY] },
        bodyOf({
          homes: [
            [1, 0],
            [0, 0],
          ],
        }),
      ),
    ],
    ['a home beyond', documentOf({ ...HEAD, away: [AWAY] }, bodyOf({ homes: [[2, 0]] }))],
    ['somebody away without a window', documentOf({ ...HEAD, away: [{ id: 'a' }] }, BODY)],
    ['an id away that is none', documentOf({ ...HEAD, away: [{ ...AWAY, id: 1 }] }, BODY)],
    ['a head that is not JSON', documentOf('{', BODY)],
    ['a head that is null', documentOf('null', BODY)],
    ['a head that is a list', documentOf('[]', BODY)],
    ['an epoch that is a string', documentOf({ ...HEAD, epoch: '9' }, BODY)],
    ['an epoch below zero', documentOf({ ...HEAD, epoch: -9 }, BODY)],
    ['an epoch that is no whole number', documentOf({ ...HEAD, epoch: 9.5 }, BODY)],
    ['an epoch beyond 2^53', documentOf({ ...HEAD, epoch: 2 ** 53 }, BODY)],
    ['no total', documentOf({ ...HEAD, total: undefined }, BODY)],
    ['no next total', documentOf({ ...HEAD, nextTotal: null }, BODY)],
    ['a nonce that is a number', documentOf({ ...HEAD, nonce: 1 }, BODY)],
    ['a settled that is a number', documentOf({ ...HEAD, settled: 1 }, BODY)],
    ['no office', documentOf({ ...HEAD, office: null }, BODY)],
    ...(['id', 'incarnation', 'lease', 'term', 'owed'] as const).flatMap((key) =>
      [undefined, null, true, [], {}, key === 'id' || key === 'incarnation' ? 1 : '1'].map(
        (value): [string, Buffer] => [
          `an office whose ${key} is ${JSON.stringify(value)}`,
          documentOf({ ...HEAD, office: { ...HEAD.office, [key]: value } }, BODY),
        ],
      ),
    ),
    [
      'an endless lease',
      documentOf(JSON.stringify(HEAD).replace('"lease":5', '"lease":1e999'), BODY),
    ],
    ['members that are no list', documentOf({ ...HEAD, members: {} }, BODY)],
    ...[null, 'a', {}, [], ['a'], ['a', 1, 5], ['a', 'a1', -1], ['a', 'a1', '5']].map(
      (value): [string, Buffer] => [
        `a member that is ${JSON.stringify(value)}`,
        documentOf({ ...HEAD, members: [value] }, BODY),
      ],
    ),
    [
      'a member whose address is a number',
      documentOf({ ...HEAD, members: [['a', 'a1', 5, 1]] }, BODY),
    ],
    [
      'the same registration twice',
      documentOf(
        { ...HEAD, members: [HEAD.members[0], HEAD.members[0]] },
        bodyOf({ own: [[0], [0]] }),
      ),
    ],
    ...(
      [
        ['an owner that is not listed', { owners: [2, 1] }],
        ['an owner without a token', { own: [[]] }],
        ['an item without a token', { ranks: [0, 1] }],
        ['a token of the time before time', { table: [9] }],
        ['the same token twice', { table: [1, 0] }],
        ['more tokens than items', { table: [1, 1, 1] }],
        ['a token that is not in the table', { own: [[1]] }],
        ['more tokens of a member than there are', { own: [[0, 0]] }],
        ['the same token of a member twice', { table: [1, 1], own: [[0, 0]] }],
        ['a mark on nobody’s item', { owners: [0, 1], marks: [[0, 0]] }],
        ['a mark beyond the last item', { marks: [[2, 0]] }],
        ['a mark as old as the grant', { marks: [[0, 1]] }],
        [
          'two marks on one item',
          {
            marks: [
              [0, 0],
              [0, 0],
            ],
          },
        ],
      ] as [string, Parts][]
    ).map(([defect, parts]): [string, Buffer] => [defect, documentOf(HEAD, bodyOf(parts))]),
  ])('refuses %s', (_, document) => {
    expect(decodeOrRefuse(document)).toBeUndefined();
  });

  describe('does not allocate what a document merely claims', () => {
    const huge = [2 ** 53 - 1, 2 ** 40, 2 ** 31, 2 ** 30, 50_000_000];

    it.each(huge)('a total of %d', (total) => {
      const before = process.memoryUsage().arrayBuffers;
      expect(decodeOrRefuse(documentOf({ ...HEAD, total }, BODY))).toBeUndefined();
      expect(
        decodeOrRefuse(documentOf({ ...HEAD, total, nextTotal: total }, BODY)),
      ).toBeUndefined();
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
    });

    it.each(huge)('%d tokens, altogether or of one member', (count) => {
      const number = new ByteWriter(0);
      number.number(count);
      const zeros = Array.from({ length: 1_000 }, () => 0);
      for (const before of [
        [1, 1],
        [1, 1, 1, 1],
      ]) {
        const body = [...before, ...number.finish(), ...zeros];
        expect(decodeOrRefuse(documentOf(HEAD, body))).toBeUndefined();
      }
    });

    it('60 MB of zeros that take 60 KB deflated', () => {
      const total = 60_000_000;
      const head = documentOf({ ...HEAD, total, nextTotal: total }).subarray(5);
      const raw = Buffer.concat([head, Buffer.alloc(total)]);
      const document = Buffer.concat([Buffer.from('NDS\x01\x01'), deflateRawSync(raw)]);
      expect(document.length).toBeLessThan(100_000);
      const started = performance.now();
      expect(decodeOrRefuse(document)).toBeUndefined();
      expect(performance.now() - started).toBeLessThan(3_000);
    });

    it('a deflated document without an end', () => {
      const document = documentOf(HEAD, BODY, true);
      const bomb = deflateRawSync(Buffer.alloc(80 * 1024 * 1024));
      expect(decodeOrRefuse(Buffer.concat([document.subarray(0, 5), bomb]))).toBeUndefined();
      expect(inflateRawSync(document.subarray(5)).length).toBeGreaterThan(0);
    });
  });

  /**
   * With 50 changes, to be quick. Done once with 10,000 (six minutes): 274,586 bytes for 876 members,
   * where by then hardly two neighbouring items had the same holder, and 57,699 different grants.
   */
  it('keeps 100,000 items of about 1,000 members under 300 KB after many random joins and leaves', () => {
    const { plan, size } = afterRandomChanges(100_000, 1_000, 50);
    expect(plan.settled).toBe(true);
    expect(plan.total).toBe(100_000);
    expect(size).toBeLessThan(300_000);
    expect(size).toBeLessThan(MAX_PLAN_BYTES);
  });

  it('does not grow with the number of changes: under 3 bytes an item, however many', () => {
    for (const changes of [500, 2_000]) {
      expect(afterRandomChanges(2_000, 20, changes).size).toBeLessThan(6_000);
    }
  });
});

/** Joins and leaves through the real `next`, one after the other, each until the plan is settled. */
function afterRandomChanges(total: number, size: number, changes: number) {
  const random = new SeededRandom(1);
  let members: MemberRecord[] = [];
  let born = 0;
  const join = (): void => {
    const number = ++born;
    const id = `10.${random.below(256)}.${random.below(256)}.${random.below(256)}@-@${number}@-@`;
    members.push({ ...member(`x${random.hex(16)}`), id: id + random.hex(8) });
  };
  while (members.length < size) join();
  let plan: Plan | undefined;
  let wall = Date.UTC(2026, 0);
  const settle = (): void => {
    for (;;) {
      wall += 1 + random.below(60_000);
      const step = next(
        plan,
        members,
        newConfig(total, 'sticky'),
        factsOf({
          wall,
          nonce: random.hex(16),
          mayCreate: true,
        }),
      );
      if (!step.plan) return;
      const { epoch } = (plan = step.plan);
      if (step.revoked > 0) members = members.map((each) => ({ ...each, acked: epoch }));
    }
  };
  settle();
  for (let change = 0; change < changes; change++) {
    const isJoin = members.length <= 1 || (members.length < size * 1.05 && random.fraction() < 0.5);
    if (isJoin) join();
    else {
      const [leaver] = members.splice(random.below(members.length), 1);
      members.push({ ...leaver!, leaving: true, surrendered: plan!.epoch, acked: plan!.epoch });
    }
    settle();
    members = members.filter(({ leaving }) => !leaving);
  }
  settle();
  return { plan: plan!, size: encodePlan(plan!).length };
}
