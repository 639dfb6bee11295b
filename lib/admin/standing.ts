import type { GroupConfig, InstanceConfig } from '../coordinator/group-config.js';
import type { MemberRecord } from '../coordinator/member-record.js';
import type { Roster } from '../coordinator/roster.js';

/** How an instance stands to the group. @publicApi */
export type InstanceState =
  /** It holds its share. */
  | 'active'
  /** It keeps what it has and gets nothing new. */
  | 'cordoned'
  /** Its weight is 0: it holds nothing. */
  | 'standby'
  /** An operator takes everything from it, because it is about to go. */
  | 'drained'
  /** An operator wants it to hold nothing. */
  | 'disabled'
  /** It gave everything up by itself. */
  | 'leaving'
  /** What it wrote into the store cannot be read: it counts as absent. */
  | 'unreadable'
  /** It is gone, and may hold shards until its lease has run out for sure. */
  | 'gone'
  /** It went and may come back: its shards are kept for it, or lent out. */
  | 'away';

/** The weight that counts. */
export function weightOf({ weight }: MemberRecord, said: InstanceConfig = {}): number {
  return said.weight ?? weight;
}

/** Of an instance that is registered. */
export function standingOf(record: MemberRecord, said: InstanceConfig = {}): InstanceState {
  if (said.disabled) return 'disabled';
  if (said.drained) return 'drained';
  if (record.leaving) return 'leaving';
  if (weightOf(record, said) === 0) return 'standby';
  return said.cordoned ? 'cordoned' : 'active';
}

export function hasLabels(
  { labels }: Pick<MemberRecord, 'labels'>,
  needs: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(needs).every(([key, value]) => labels[key] === value);
}

/**
 * The items that need labels which nobody has who can be given anything, by these labels: the rules of the
 * leader, for whom a pin that can be honoured comes first.
 */
export function unmetNeeds(
  config: GroupConfig,
  { seats }: Roster,
  total = Infinity,
): Map<string, number[]> {
  const unmet = new Map<string, number[]>();
  const isMetBy = new Map<string, boolean>();
  const able = new Set(seats.map(({ id }) => id));
  for (const [key, { disabled, pin, needs }] of Object.entries(config.items)) {
    const item = Number(key);
    if (!needs || disabled || item >= total || (pin !== undefined && able.has(pin))) continue;
    const labels = formatLabels(needs);
    const isMet = isMetBy.get(labels) ?? seats.some((seat) => hasLabels(seat, needs));
    isMetBy.set(labels, isMet);
    if (!isMet) unmet.set(labels, [...(unmet.get(labels) ?? []), item]);
  }
  return unmet;
}

/** As people write them: `zone=a,disk=ssd`. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
