import type { StrategyMember } from '../interfaces/sharding-strategy.interface.js';
import type { GroupConfig } from './group-config.js';
import type { MemberRecord } from './member-record.js';

/** Who takes part in a plan, by what they say of themselves and what the configuration says of them. */
export interface Roster {
  /** Everyone who is there and stays, sorted by id: the plan names all of them, in this order. */
  readonly present: readonly MemberRecord[];
  /** Those that can hold items, by id: their place in `present`. */
  readonly holders: ReadonlyMap<string, number>;
  /** Those of them that can be given items, in the same order. */
  readonly seats: readonly Seat[];
}

/** A member as a strategy sees it. */
export interface Seat extends StrategyMember {
  /** Its index in `present`. */
  readonly place: number;
}

export function rosterOf(members: readonly MemberRecord[], config: GroupConfig): Roster {
  const present = members.filter(({ leaving }) => !leaving).sort(byId);
  const holders = new Map<string, number>();
  const seats: Seat[] = [];
  for (const [place, member] of present.entries()) {
    if (!canHold(member, config)) continue;
    const { id, labels } = member;
    holders.set(id, place);
    const weight = weightOf(member, config);
    if (config.instances[id]?.cordoned !== true) seats.push({ id, weight, labels, place });
  }
  return { present, holders, seats };
}

export type Labels = Seat['labels'];

export function hasLabels(labels: Labels, wanted: readonly (readonly [string, string])[]): boolean {
  return wanted.every(([key, value]) => labels[key] === value);
}

type Weighed = Pick<MemberRecord, 'id' | 'weight'>;

/** Whether an instance of this weight can hold items, by the configuration. */
export function canHold(instance: Weighed, config: GroupConfig): boolean {
  return weightOf(instance, config) > 0 && !isShutOut(instance.id, config);
}

function weightOf({ id, weight }: Weighed, { instances }: GroupConfig): number {
  return instances[id]?.weight ?? weight;
}

/** Whether the configuration lets an instance hold nothing. */
export function isShutOut(id: string, { instances }: GroupConfig): boolean {
  const said = instances[id];
  return said?.disabled === true || said?.drained === true;
}

const byId = (a: { id: string }, b: { id: string }): number =>
  a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
