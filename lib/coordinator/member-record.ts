import type { InstanceDescription } from './coordinator.types.js';
import { PLAN_FORMAT } from './plan-codec.js';

/** What a member says of itself in `/instances/{id}`. Only its owner writes it. */
export interface MemberRecord {
  readonly id: string;
  /** Drawn anew for each registration: tells two lives of one id apart. */
  readonly incarnation: string;
  readonly address: string | undefined;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The newest plan format that it reads. */
  readonly format: number;
  /** Its lease duration D in milliseconds. */
  readonly lease: number;
  readonly drainTimeout: number;
  /** Every revocation marked up to this epoch is stopped and drained. Never falls. */
  readonly acked: number;
  /** It holds nothing granted with a token up to this epoch, and never will. Never falls. */
  readonly surrendered: number;
  /** It wants no shards: it is about to go, or has been drained. */
  readonly leaving: boolean;
  /** For how long the group is to wait for it if it goes, in milliseconds; 0 if not at all. */
  readonly rejoinWindow: number;
  /** Whether others are to hold its items meanwhile. */
  readonly lends: boolean;
}

type NewMember = Pick<
  MemberRecord,
  'lease' | 'drainTimeout' | 'surrendered' | 'leaving' | 'rejoinWindow' | 'lends'
>;

export function newMemberRecord(
  instance: InstanceDescription,
  incarnation: string,
  member: NewMember,
): MemberRecord {
  const { id, address, weight, labels } = instance;
  return {
    id,
    incarnation,
    address,
    weight,
    labels,
    format: PLAN_FORMAT,
    acked: 0,
    ...member,
  };
}

/** JSON, which is YAML too, with the two names that the original system's tools look for. */
export function encodeMember(record: MemberRecord, { ip, pid }: InstanceDescription): Buffer {
  const { id, ...rest } = record;
  return Buffer.from(JSON.stringify({ instanceId: id, serverIp: ip, pid, ...rest }));
}

/** The record, or undefined for anything that is not one: whoever wrote it is treated as absent. */
export function decodeMember(id: string, data: Buffer): MemberRecord | undefined {
  let raw: Record<string, unknown>;
  try {
    raw = JSON.parse(data.toString()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const { incarnation, address, weight, labels, format, lease, drainTimeout, acked, surrendered } =
    raw ?? {};
  const durations = [weight, format, lease, drainTimeout];
  const isRecord =
    raw?.['instanceId'] === id &&
    typeof incarnation === 'string' &&
    incarnation !== '' &&
    durations.every(isDuration) &&
    [acked, surrendered].every(isEpoch) &&
    typeof raw['leaving'] === 'boolean';
  if (!isRecord) return undefined;
  return {
    id,
    incarnation,
    address: typeof address === 'string' ? address : undefined,
    weight: weight as number,
    labels: isLabels(labels) ? labels : {},
    format: format as number,
    lease: lease as number,
    drainTimeout: drainTimeout as number,
    acked: acked as number,
    surrendered: surrendered as number,
    leaving: raw['leaving'] as boolean,
    rejoinWindow: isDuration(raw['rejoinWindow']) ? (raw['rejoinWindow'] as number) : 0,
    lends: raw['lends'] === true,
  };
}

function isDuration(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0;
}

/** Every plan's epoch is larger than these, so the largest one has to leave room. */
const MAX_EPOCH = 2 ** 52;

function isEpoch(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_EPOCH;
}

function isLabels(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((label) => typeof label === 'string')
  );
}
