import type { GroupConfig } from '../coordinator/group-config.js';
import { rosterOf } from '../coordinator/roster.js';
import { builtInStrategies } from '../strategies/index.js';
import type { ConfigChange } from './changes.js';
import { isBuiltIn, list } from './diagnose.js';
import { formatSomeItems } from './item-ranges.js';
import { type GroupSnapshot, planOf, recordsOf } from './snapshot.js';
import { unmetNeeds } from './standing.js';

/** What speaks against a change of the configuration that could be written as such. */
export interface Objections {
  /** It is a mistake, as far as can be told from here. */
  readonly refusals: readonly string[];
  /** It can be meant, and has an effect that may not be. */
  readonly warnings: readonly string[];
}

/** Judges a change by who is there now. */
export function objectionsTo(
  change: ConfigChange,
  before: GroupConfig,
  after: GroupConfig,
  snapshot: GroupSnapshot,
): Objections {
  return {
    refusals: [
      ...unknownInstances(change, before, snapshot),
      ...unknownItems(change, after, snapshot),
      ...unknownStrategy(before, after),
    ],
    warnings: [
      ...newlyUnmet(change, before, after, snapshot),
      ...unknownLabel(before, after, snapshot),
      ...nobodyLeft(before, after, snapshot),
    ],
  };
}

function unknownInstances(
  { instances }: ConfigChange,
  before: GroupConfig,
  snapshot: GroupSnapshot,
): string[] {
  const there = snapshot.instances.map(({ id }) => id);
  const known = new Set([...there, ...Object.keys(before.instances)]);
  const unknown = instances.filter((id) => !known.has(id));
  if (unknown.length === 0) return [];
  const others = there.length === 0 ? 'none is registered' : `registered are ${list(there)}`;
  return unknown.map((id) => `there is no instance ${JSON.stringify(id)}: ${others}`);
}

function unknownItems(
  { items }: ConfigChange,
  after: GroupConfig,
  snapshot: GroupSnapshot,
): string[] {
  const total = after.total === 'instances' ? planOf(snapshot)?.nextTotal : after.total;
  if (total === undefined) return [];
  const beyond = items.filter((item) => item >= total);
  if (beyond.length === 0) return [];
  return [`there is no item ${formatSomeItems(beyond)}: they are numbered from 0 to ${total - 1}`];
}

function unknownStrategy(before: GroupConfig, { strategy }: GroupConfig): string[] {
  if (strategy === before.strategy || isBuiltIn(strategy)) return [];
  const known = Object.keys(builtInStrategies).join(', ');
  const shown = JSON.stringify(strategy);
  return [
    `the strategy ${shown} is not built in (${known}); force it if the instances bring it along`,
  ];
}

/** Also what another wish makes so, such as a drain of the last instance with a label. */
function newlyUnmet(
  { items }: ConfigChange,
  before: GroupConfig,
  after: GroupConfig,
  snapshot: GroupSnapshot,
): string[] {
  const unmet = (config: GroupConfig): Map<string, number[]> =>
    unmetNeeds(config, rosterOf(recordsOf(snapshot), config));
  const known = unmet(before);
  return [...unmet(after)].flatMap(([labels, asking]) => {
    const were = new Set(known.get(labels));
    const fresh = asking.filter((item) => !were.has(item) || items.includes(item));
    if (fresh.length === 0) return [];
    return `no instance that may be given items has ${labels}, which is needed by ${formatSomeItems(fresh)}`;
  });
}

function unknownLabel(
  before: GroupConfig,
  { spreadOver }: GroupConfig,
  snapshot: GroupSnapshot,
): string[] {
  if (spreadOver === undefined || spreadOver === before.spreadOver) return [];
  const isUsed = recordsOf(snapshot).some(({ labels }) => Object.hasOwn(labels, spreadOver));
  return isUsed ? [] : [`no instance has the label ${spreadOver}: there is nothing to spread over`];
}

function nobodyLeft(before: GroupConfig, after: GroupConfig, snapshot: GroupSnapshot): string[] {
  const seats = (config: GroupConfig): number => rosterOf(recordsOf(snapshot), config).seats.length;
  return seats(before) > 0 && seats(after) === 0
    ? ['no instance is left that may be given anything']
    : [];
}
