import type { GroupConfig } from './group-config.js';
import type { MemberRecord } from './member-record.js';
import type { AwayMember, Plan, Rejoin } from './plan.js';
import { canHold, type Roster } from './roster.js';

/** Who is away, and which items belong to them: the part of a plan that outlives its members. */
export type Absences = Pick<Plan, 'away' | 'homes'>;

export interface Departures {
  /** Registrations by incarnation. */
  readonly live: ReadonlyMap<string, MemberRecord>;
  readonly lastWords: ReadonlyMap<string, MemberRecord>;
  /** Ids that this leader has waited for in vain. */
  readonly overstayed: ReadonlySet<string>;
}

/**
 * Carries the absences of a plan on. Whoever went, wants to be awaited and has items becomes away, and
 * the items are at home with it, unless they were only lent to it. Whoever stayed away for too long,
 * is not to hold anything any more, or is back to hold nothing, is not awaited.
 */
export function absencesAfter(
  plan: Plan,
  config: GroupConfig,
  roster: Roster,
  departures: Departures,
): Absences {
  const back = new Set(roster.present.map(({ id }) => id));
  const isAwaited = ({ id, weight }: Pick<AwayMember, 'id' | 'weight'>): boolean =>
    !departures.overstayed.has(id) &&
    (back.has(id) ? roster.holders.has(id) : canHold({ id, weight }, config));
  const departed = plan.members.map(
    ({ id, incarnation, rejoin }) =>
      rejoin !== undefined &&
      isAwaited({ id, ...rejoin }) &&
      hasDeparted(incarnation, rejoin, departures),
  );
  if (plan.away.length === 0 && !departed.includes(true)) return nobodyAway(plan.total);

  const away = plan.away.filter(isAwaited);
  const indexOf = new Map(away.map(({ id }, index) => [id, index]));
  const kept = plan.away.map(({ id }) => indexOf.get(id) ?? -1);
  const homes = plan.homes.map((home) => (home < 0 ? -1 : kept[home]!));
  for (let item = 0; item < plan.total; item++) {
    const owner = plan.owners[item]!;
    if (homes[item]! >= 0 || owner < 0 || !departed[owner]) continue;
    const { id, rejoin } = plan.members[owner]!;
    if (!indexOf.has(id)) indexOf.set(id, away.push({ id, ...rejoin! }) - 1);
    homes[item] = indexOf.get(id)!;
  }
  return { away, homes };
}

function hasDeparted(
  incarnation: string,
  rejoin: Rejoin,
  { live, lastWords }: Departures,
): boolean {
  const registered = live.get(incarnation);
  // Whoever was drained on purpose has taken its wish to be awaited back.
  const word = registered ?? lastWords.get(incarnation);
  return (!registered || registered.leaving) && (word?.rejoinWindow ?? rejoin.window) > 0;
}

/** The same without whoever has nothing to come back to. */
export function withoutIdle({ away, homes }: Absences): Absences {
  if (away.length === 0) return { away, homes };
  const isUsed = new Uint8Array(away.length);
  for (let item = 0; item < homes.length; item++) if (homes[item]! >= 0) isUsed[homes[item]!] = 1;
  if (isUsed.every((used) => used === 1)) return { away, homes };
  let index = 0;
  const renumbered = Array.from(isUsed, (used) => (used === 1 ? index++ : -1));
  return {
    away: away.filter((_, position) => isUsed[position] === 1),
    homes: homes.map((home) => (home < 0 ? -1 : renumbered[home]!)),
  };
}

export function nobodyAway(total: number): Absences {
  return { away: [], homes: new Int32Array(total).fill(-1) };
}

/** How many of those away hold a place in the group, since nobody else has their items meanwhile. */
export function countAwaited({ away }: Absences, { holders }: Roster): number {
  return away.filter(({ id, lends }: AwayMember) => !lends && !holders.has(id)).length;
}
