import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { ByteReader, ByteWriter } from './bytes.js';
import { MAX_TOTAL } from './group-config.js';
import type { AwayMember, Office, Plan, PlanMember, Rejoin } from './plan.js';

/** The newest format that this release reads and writes. */
export const PLAN_FORMAT = 1;

/** A plan that is larger is not written: the store refuses nodes of 1 MB. */
export const MAX_PLAN_BYTES = 900_000;

export class UnreadablePlanError extends Error {
  override readonly name = 'UnreadablePlanError';
  constructor(
    reason: string,
    /** Written by a later release, so it must not be replaced. */
    readonly isNewer = false,
  ) {
    super(`The plan cannot be read: ${reason}`);
  }
}

const MAGIC = Buffer.from('NDS');
const PLAIN = 0;
const DEFLATED = 1;
const HEADER = MAGIC.length + 2;
/** Below this, deflating takes longer than sending what it saves. */
const WORTH_DEFLATING = 16_384;
/** Inflating stops here, so that a malformed document cannot exhaust the memory. */
const MAX_INFLATED = 64 * 1024 * 1024;

/** What is written as JSON; the arrays follow in binary. Members are tuples to save their keys. */
interface Head {
  readonly epoch: number;
  readonly nonce: string;
  readonly office: Office;
  readonly total: number;
  readonly nextTotal: number;
  readonly settled: boolean;
  readonly members: readonly MemberTuple[];
  /** Left out where nobody is away. */
  readonly away?: readonly AwayMember[];
  readonly node?: string | undefined;
}

type MemberTuple = readonly [
  id: string,
  incarnation: string,
  lease: number,
  address?: string | null,
  rejoin?: Rejoin,
];

/**
 * A document is `NDS`, the format, the compression, and the body: the head as JSON; the owner of each
 * item (1 or 2 bytes, in planes, which deflate better); the tokens; the marks; and the homes. Ownership
 * fragments with time, so there are no ranges.
 */
export function encodePlan(plan: Plan): Buffer {
  const body = new ByteWriter(1024 + plan.total * 3);
  body.text(JSON.stringify(headOf(plan)));
  writePlanes(
    body,
    plan.owners.map((owner) => owner + 1),
    plan.members.length,
  );
  writeTokens(body, plan);
  writeMarks(body, plan);
  writeHomes(body, plan);
  const raw = body.finish();
  const deflate = raw.length > WORTH_DEFLATING;
  return Buffer.concat([
    MAGIC,
    Buffer.from([PLAN_FORMAT, deflate ? DEFLATED : PLAIN]),
    deflate ? deflateRawSync(raw, { level: constants.Z_BEST_SPEED }) : raw,
  ]);
}

/** Reads a plan or throws `UnreadablePlanError`; never a guess. */
export function decodePlan(document: Buffer): Plan {
  const body = new ByteReader(bodyOf(document), (reason) => new UnreadablePlanError(reason));
  const { members, away = [], ...head } = parseHead(body.text());
  const owners = readPlanes(body, head.total, members.length).map((owner) => owner - 1);
  const tokens = readTokens(body, head, owners, members.length);
  const marks = readMarks(body, head, tokens);
  const homes = readHomes(body, head, away.length);
  body.end();
  return { ...head, members: members.map(asMember), owners, tokens, marks, away, homes };
}

function headOf(plan: Plan): Head {
  const { epoch, nonce, office, total, nextTotal, settled, members, away, node } = plan;
  return {
    ...{ epoch, nonce, office, total, nextTotal, settled, node },
    members: members.map(asTuple),
    ...(away.length === 0 ? {} : { away }),
  };
}

function asTuple({ id, incarnation, lease, address, rejoin }: PlanMember): MemberTuple {
  if (rejoin) return [id, incarnation, lease, address ?? null, rejoin];
  return address === undefined ? [id, incarnation, lease] : [id, incarnation, lease, address];
}

function asMember([id, incarnation, lease, address, rejoin]: MemberTuple): PlanMember {
  return {
    ...{ id, incarnation, lease },
    ...(address === undefined || address === null ? {} : { address }),
    ...(rejoin === undefined ? {} : { rejoin }),
  };
}

function bodyOf(document: Buffer): Buffer {
  if (document.length < HEADER || !document.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new UnreadablePlanError('it is not a document of this library');
  }
  const format = document[MAGIC.length]!;
  if (format > PLAN_FORMAT) {
    throw new UnreadablePlanError(
      `it has format ${format}, and this release knows formats up to ${PLAN_FORMAT}; ` +
        'update nestjs-dynamic-sharding on this instance',
      true,
    );
  }
  const body = document.subarray(HEADER);
  const compression = document[HEADER - 1];
  if (format === 0 || (compression !== PLAIN && compression !== DEFLATED)) {
    throw new UnreadablePlanError('its header is damaged');
  }
  return compression === PLAIN ? body : inflate(body);
}

function inflate(body: Buffer): Buffer {
  let inflated: { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
  try {
    // The types do not know of `info`, which makes the answer say how much of the input was used.
    const options = { maxOutputLength: MAX_INFLATED, info: true };
    inflated = inflateRawSync(body, options) as unknown as typeof inflated;
  } catch (error) {
    throw new UnreadablePlanError(`it is damaged (${(error as Error).message})`);
  }
  if (inflated.engine.bytesWritten !== body.length) {
    throw new UnreadablePlanError('it is longer than it should be');
  }
  return inflated.buffer;
}

function parseHead(json: string): Head {
  let head: Head;
  try {
    head = JSON.parse(json) as Head;
  } catch {
    throw new UnreadablePlanError('its head is not JSON');
  }
  const isValid =
    isCount(head?.epoch) &&
    isCount(head.total) &&
    head.total <= MAX_TOTAL &&
    isCount(head.nextTotal) &&
    head.nextTotal <= MAX_TOTAL &&
    typeof head.nonce === 'string' &&
    typeof head.settled === 'boolean' &&
    isOffice(head.office) &&
    Array.isArray(head.members) &&
    head.members.every(isMember) &&
    (head.away === undefined || (Array.isArray(head.away) && head.away.every(isAway))) &&
    (head.node === undefined || typeof head.node === 'string');
  if (!isValid) {
    throw new UnreadablePlanError('its head lacks a field, or has one of the wrong type or range');
  }
  const incarnations = new Set(head.members.map(([, incarnation]) => incarnation));
  if (incarnations.size !== head.members.length) {
    throw new UnreadablePlanError('it lists a member twice');
  }
  return head;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isDuration = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;

function isOffice(office: Office): boolean {
  return (
    typeof office?.id === 'string' &&
    typeof office.incarnation === 'string' &&
    isCount(office.term) &&
    isDuration(office.lease) &&
    isDuration(office.owed)
  );
}

function isMember(member: unknown): boolean {
  if (!Array.isArray(member)) return false;
  const [id, incarnation, lease, address, rejoin] = member as unknown[];
  return (
    typeof id === 'string' &&
    typeof incarnation === 'string' &&
    isDuration(lease) &&
    (address === undefined || address === null || typeof address === 'string') &&
    (rejoin === undefined || isRejoin(rejoin))
  );
}

function isAway(member: unknown): boolean {
  return isRejoin(member) && typeof (member as Partial<AwayMember>).id === 'string';
}

function isRejoin(value: unknown): boolean {
  const { window, lends, weight, labels } = (value ?? {}) as Partial<Rejoin>;
  return (
    isDuration(window) &&
    typeof lends === 'boolean' &&
    isDuration(weight) &&
    typeof labels === 'object' &&
    labels !== null &&
    Object.values(labels).every((label) => typeof label === 'string')
  );
}

/** Numbers up to `largest`, low bytes first, then the high ones if there are any. */
function writePlanes(body: ByteWriter, values: Int32Array, largest: number): void {
  for (const shift of planesFor(largest)) body.plane(values, shift);
}

function readPlanes(body: ByteReader, count: number, largest: number): Int32Array {
  body.assertLeft(count);
  const values = new Int32Array(count);
  for (const shift of planesFor(largest)) body.plane(values, shift);
  if (values.some((value) => value > largest)) {
    throw new UnreadablePlanError('it names a member that it does not list');
  }
  return values;
}

function planesFor(largest: number): number[] {
  return largest < 2 ** 8 ? [0] : largest < 2 ** 16 ? [0, 8] : [0, 8, 16];
}

/**
 * All that one write grants has its epoch, so there are far fewer tokens than items: one table of them,
 * for each member the places of its own in it, and for each item which of its holder's it is.
 */
function writeTokens(body: ByteWriter, { epoch, members, owners, tokens, total }: Plan): void {
  const ranksOf: Map<number, number>[] = members.map(() => new Map());
  // Neighbours mostly have the token of the last one: then nothing has to be looked up.
  const lastToken = new Float64Array(members.length).fill(NaN);
  for (let item = 0; item < total; item++) {
    const owner = owners[item]!;
    const token = tokens[item]!;
    if (owner < 0 || lastToken[owner] === token) continue;
    lastToken[owner] = token;
    ranksOf[owner]!.set(token, 0);
  }
  const table = newestFirst(new Set(ranksOf.flatMap((ranks) => [...ranks.keys()])));
  const places = new Map(table.map((token, place) => [token, place]));
  writeRising(
    body,
    table.map((token) => epoch - token),
  );
  let largest = 0;
  for (const ranks of ranksOf) {
    const own = newestFirst(ranks.keys());
    for (const [rank, token] of own.entries()) ranks.set(token, rank);
    largest = Math.max(largest, own.length - 1);
    writeRising(
      body,
      own.map((token) => places.get(token)!),
    );
  }
  body.number(largest);
  writePlanes(body, ranksByItem(owners, tokens, ranksOf), largest);
}

function ranksByItem(
  owners: Int32Array,
  tokens: Float64Array,
  ranksOf: readonly ReadonlyMap<number, number>[],
): Int32Array {
  const ranks = new Int32Array(owners.length);
  const lastToken = new Float64Array(ranksOf.length).fill(NaN);
  const lastRank = new Int32Array(ranksOf.length);
  for (let item = 0; item < owners.length; item++) {
    const owner = owners[item]!;
    if (owner < 0) continue;
    const token = tokens[item]!;
    if (lastToken[owner] !== token) {
      lastToken[owner] = token;
      lastRank[owner] = ranksOf[owner]!.get(token)!;
    }
    ranks[item] = lastRank[owner]!;
  }
  return ranks;
}

const newestFirst = (tokens: Iterable<number>): number[] => [...tokens].sort((a, b) => b - a);

function readTokens(
  body: ByteReader,
  { epoch, total }: Pick<Plan, 'epoch' | 'total'>,
  owners: Int32Array,
  memberCount: number,
): Float64Array {
  const table = readRising(body, total, epoch - 1).map((age) => epoch - age);
  const known: number[][] = [];
  for (let member = 0; member < memberCount; member++) {
    known.push(readRising(body, table.length, table.length - 1).map((place) => table[place]!));
  }
  const ranks = readPlanes(body, total, body.number());
  const tokens = new Float64Array(total);
  for (let item = 0; item < total; item++) {
    const owner = owners[item]!;
    if (owner < 0) continue;
    const token = known[owner]![ranks[item]!];
    if (token === undefined) throw new UnreadablePlanError(`item ${item} has no token`);
    tokens[item] = token;
  }
  return tokens;
}

/** Numbers of which each is larger than the one before. */
function writeRising(body: ByteWriter, values: readonly number[]): void {
  body.number(values.length);
  let previous = 0;
  for (const value of values) {
    body.number(value - previous);
    previous = value;
  }
}

function readRising(body: ByteReader, maxCount: number, maxValue: number): number[] {
  const count = body.number();
  if (count > maxCount) throw new UnreadablePlanError('it has more tokens than items');
  const values: number[] = [];
  let value = 0;
  for (let index = 0; index < count; index++) {
    const difference = body.number();
    value += difference;
    if (value > maxValue || (index > 0 && difference === 0)) {
      throw new UnreadablePlanError('it has a token out of range');
    }
    values.push(value);
  }
  return values;
}

function writeMarks(body: ByteWriter, { epoch, marks }: Plan): void {
  let count = 0;
  for (const mark of marks) if (mark > 0) count += 1;
  body.number(count);
  let previous = 0;
  for (let item = 0; count > 0; item++) {
    if (marks[item] === 0) continue;
    body.number(item - previous);
    body.number(epoch - marks[item]!);
    previous = item;
    count -= 1;
  }
}

function readMarks(
  body: ByteReader,
  { epoch, total }: Pick<Plan, 'epoch' | 'total'>,
  tokens: Float64Array,
): Float64Array {
  const marks = new Float64Array(total);
  let item = 0;
  for (let count = body.number(); count > 0; count--) {
    item += body.number();
    const mark = epoch - body.number();
    const token = tokens[item];
    // Whoever holds nothing has the token 0, and a revocation is younger than the grant.
    if (token === undefined || token === 0 || mark <= token || marks[item] !== 0) {
      throw new UnreadablePlanError('it takes away what nobody holds, or the same thing twice');
    }
    marks[item] = mark;
  }
  return marks;
}

function writeHomes(body: ByteWriter, { homes }: Plan): void {
  let count = 0;
  for (let item = 0; item < homes.length; item++) if (homes[item]! >= 0) count += 1;
  body.number(count);
  let previous = 0;
  for (let item = 0; count > 0; item++) {
    if (homes[item]! < 0) continue;
    body.number(item - previous);
    body.number(homes[item]!);
    previous = item;
    count -= 1;
  }
}

function readHomes(
  body: ByteReader,
  { total }: Pick<Plan, 'total'>,
  awayCount: number,
): Int32Array {
  const homes = new Int32Array(total).fill(-1);
  let item = 0;
  for (let count = body.number(); count > 0; count--) {
    item += body.number();
    const home = body.number();
    if (homes[item] !== -1 || home >= awayCount) {
      throw new UnreadablePlanError(
        'it keeps an item for somebody whom it does not list, or twice',
      );
    }
    homes[item] = home;
  }
  return homes;
}
