import type { GroupConfig } from '../coordinator/group-config.js';
import type { Plan } from '../coordinator/plan.js';
import { rosterOf } from '../coordinator/roster.js';
import { builtInStrategies } from '../strategies/index.js';
import { formatSomeItems } from './item-ranges.js';
import { holders, stepOf, type Strategies } from './predict.js';
import { configOf, type GroupSnapshot, leaderOf, planOf, recordsOf } from './snapshot.js';
import { hasLabels, unmetNeeds } from './standing.js';

/** What can be wrong with a group, in stable words. @publicApi */
export type ProblemCode =
  | 'unreadable-plan'
  | 'unreadable-config'
  | 'no-config'
  | 'unreadable-instance'
  | 'two-formats'
  | 'stale-node'
  | 'no-leader'
  | 'idle-leader'
  | 'nobody-holds'
  | 'unknown-strategy'
  | 'pin-ignored'
  | 'unplaced'
  | 'out-of-range'
  | 'absent-instance'
  | 'short-lease'
  | 'slow-store'
  | 'clock-ahead'
  | 'paused';

/** @publicApi */
export interface Problem {
  readonly code: ProblemCode;
  /** `note` is worth knowing, and can be what an operator wants. */
  readonly severity: 'error' | 'warning' | 'note';
  readonly message: string;
  /** What would mend it. */
  readonly advice: string;
}

/** A leader that had something to do for so long, and did nothing, does not do its work. */
export const LEADER_PATIENCE = 5_000;
/** An epoch is at least the clock of whoever wrote it, so one from the future tells of a wrong clock. */
const CLOCK_TOLERANCE = 60_000;
/** A garbage collection or a busy machine may take so long. */
const SHORTEST_LEASE = 1_000;

/**
 * What is wrong with a group, the worst first. Only two looks at it, `LEADER_PATIENCE` apart, can tell
 * whether its leader does its work.
 */
export function diagnose(
  snapshot: GroupSnapshot,
  strategies: Strategies,
  earlier?: GroupSnapshot,
): Problem[] {
  const problems = [
    ...unreadable(snapshot),
    ...staleNodes(snapshot),
    ...leadership(snapshot),
    ...(earlier ? idleness(earlier, snapshot, strategies) : []),
    ...placement(snapshot),
    ...margins(snapshot),
  ];
  const ranks = ['error', 'warning', 'note'];
  return problems.toSorted((a, b) => ranks.indexOf(a.severity) - ranks.indexOf(b.severity));
}

/**
 * Whether a leader could write another plan right now, or take a request. How long it delays a rebalance
 * is only known to itself: leave out what it may put off.
 */
export function hasWork(
  snapshot: GroupSnapshot,
  strategies: Strategies,
  { mayRevoke = true }: { readonly mayRevoke?: boolean } = {},
): boolean {
  const config = configOf(snapshot);
  const records = recordsOf(snapshot);
  if (!config || snapshot.plan.kind === 'unreadable' || records.length === 0) return false;
  if (snapshot.isAsked) return true;
  // Only the application knows what its own strategy would do.
  if (!isBuiltIn(config.strategy)) return false;
  const plan = planOf(snapshot);
  const leader = leaderOf(snapshot);
  if (plan && leader !== undefined && plan.office.id !== leader) return true;
  const patience = { waitsOutDead: false, overstays: false, mayRevoke };
  return stepOf(plan, records, config, strategies, patience).plan !== undefined;
}

/** A leader that has written nothing between two looks, with something to do at both. */
function idleness(earlier: GroupSnapshot, later: GroupSnapshot, strategies: Strategies): Problem[] {
  const hadWork = (patience?: { mayRevoke: boolean }): boolean =>
    hasWork(earlier, strategies, patience) && hasWork(later, strategies, patience);
  if (planOf(earlier)?.epoch !== planOf(later)?.epoch || !hadWork()) return [];
  const seconds = LEADER_PATIENCE / 1_000;
  const id = leaderOf(later) ?? 'nobody';
  const message = `${id} leads and has written nothing for ${seconds} s, though there is something to do`;
  if (hadWork({ mayRevoke: false })) {
    const advice =
      'Look at its log, and restart it if there is nothing in it: another instance takes over';
    return [error('idle-leader', message, advice)];
  }
  const advice = 'Right while its rebalanceDelay lasts; else look at its log';
  return [note('idle-leader', message, advice)];
}

function unreadable({ plan, config, instances }: GroupSnapshot): Problem[] {
  const problems: Problem[] = [];
  if (plan.kind === 'unreadable') {
    problems.push(
      error(
        'unreadable-plan',
        plan.reason,
        plan.isNewer
          ? 'Update the instances of the older release, and this command'
          : 'It was overwritten by something else: the leader replaces it once its holders are waited out',
      ),
    );
  }
  if (config.kind === 'unreadable') {
    const advice = 'Mend the node /config by hand; instances go on with the last good one';
    problems.push(error('unreadable-config', `The configuration: ${config.reason}`, advice));
  }
  if (config.kind === 'absent') {
    const advice = 'The next instance that starts writes it from its options';
    problems.push(error('no-config', 'There is no configuration', advice));
  }
  const broken = instances.filter(({ record }) => !record).map(({ id }) => id);
  if (broken.length > 0) {
    problems.push(
      error(
        'unreadable-instance',
        `What stands below /instances cannot be read: ${list(broken)}`,
        'Delete the node if no instance has made it; else bring all instances to one release',
      ),
    );
  }
  const formats = new Set(instances.flatMap(({ record }) => record?.format ?? []));
  if (formats.size > 1) {
    const shown = [...formats].toSorted((a, b) => a - b).join(' and ');
    problems.push(
      warning(
        'two-formats',
        `Instances of two releases: they read plans up to format ${shown}`,
        'Finish the update; until then the older format is written',
      ),
    );
  }
  return problems;
}

function staleNodes({ instances, leases, candidates }: GroupSnapshot): Problem[] {
  const present = new Set(instances.map(({ id }) => id));
  const orphaned = [...leases, ...candidates].filter(({ id }) => !present.has(id));
  const immortal = [...instances, ...leases, ...candidates].filter(
    ({ session }) => session === undefined,
  );
  const problems: Problem[] = [];
  if (immortal.length > 0) {
    problems.push(
      error(
        'stale-node',
        `These nodes belong to no session and will stay for ever: ${list(ids(immortal))}`,
        'Delete them: an instance only makes nodes that vanish with it',
      ),
    );
  }
  if (orphaned.length > 0) {
    problems.push(
      warning(
        'stale-node',
        `There is a lease or a candidacy, but no registration of: ${list(ids(orphaned))}`,
        'Normal for a moment while an instance comes or goes; else restart it',
      ),
    );
  }
  return problems;
}

function leadership(snapshot: GroupSnapshot): Problem[] {
  const config = configOf(snapshot);
  const records = recordsOf(snapshot);
  const problems: Problem[] = [];
  if (records.length > 0 && snapshot.candidates.length === 0) {
    problems.push(
      error(
        'no-leader',
        'Nobody stands for election, so nothing moves',
        'Normal for a moment while instances start; else look at their logs',
      ),
    );
  }
  if (config && rosterOf(records, config).seats.length === 0) {
    const why = records.length === 0 ? 'is registered' : 'may be given anything';
    const advice = records.length === 0 ? 'Start one' : 'Enable, undrain or uncordon one';
    problems.push(warning('nobody-holds', `No instance ${why}`, advice));
  }
  return problems;
}

function placement(snapshot: GroupSnapshot): Problem[] {
  const config = configOf(snapshot);
  const plan = planOf(snapshot);
  if (!config) return [];
  const problems: Problem[] = [];
  if (config.paused) {
    problems.push(
      note('paused', 'The group is paused: what is held stays where it is', 'Resume it'),
    );
  }
  if (!isBuiltIn(config.strategy)) {
    const known = Object.keys(builtInStrategies).join(', ');
    problems.push(
      note(
        'unknown-strategy',
        `The strategy ${JSON.stringify(config.strategy)} is not built in`,
        `Right if all instances have it in their option strategies; built in are ${known}`,
      ),
    );
  }
  return [
    ...problems,
    ...ignoredPins(snapshot, config),
    ...missingLabels(snapshot, config, plan),
    ...forgotten(snapshot, config),
    ...beyondTotal(config, plan),
  ];
}

function ignoredPins(snapshot: GroupSnapshot, config: GroupConfig): Problem[] {
  const able = new Set(rosterOf(recordsOf(snapshot), config).seats.map(({ id }) => id));
  const pins = said(config).filter(({ pin }) => pin !== undefined && !able.has(pin));
  if (pins.length === 0) return [];
  const targets = [...new Set(pins.flatMap(({ pin }) => pin ?? []))];
  return [
    warning(
      'pin-ignored',
      `Items ${formatSomeItems(pins.map(({ item }) => item))} are pinned to who cannot hold them: ${list(targets)}`,
      'Unpin them, or start that instance',
    ),
  ];
}

function missingLabels(
  snapshot: GroupSnapshot,
  config: GroupConfig,
  plan: Plan | undefined,
): Problem[] {
  const roster = rosterOf(recordsOf(snapshot), config);
  const held = holders(plan);
  // Who is cordoned keeps what it has.
  const isHeld = (item: number): boolean => {
    const holder = held[item];
    const place = holder && roster.holders.get(holder.id);
    const record = place === undefined ? undefined : roster.present[place];
    const needs = config.items[item]?.needs ?? {};
    return record?.incarnation === holder?.incarnation && !!record && hasLabels(record, needs);
  };
  const unmet = unmetNeeds(config, roster, totalOf(config, plan));
  return [...unmet].flatMap(([labels, asking]) => {
    const items = asking.filter((item) => !isHeld(item));
    if (items.length === 0) return [];
    return warning(
      'unplaced',
      `Nobody can hold items ${formatSomeItems(items)}: no instance that may be given items has ${labels}`,
      'Start an instance with these labels, give one back its part, or change what the items need',
    );
  });
}

/** Ids like those of pods that went for ever stay in the configuration until somebody takes them out. */
function forgotten(snapshot: GroupSnapshot, { instances }: GroupConfig): Problem[] {
  const there = new Set(snapshot.instances.map(({ id }) => id));
  const gone = Object.keys(instances).filter((id) => !there.has(id));
  if (gone.length === 0) return [];
  return [
    note(
      'absent-instance',
      `The configuration speaks of instances that are not there: ${list(gone)}`,
      'Right if they come back; else enable, uncordon, undrain and "set-weight ID default" clear it',
    ),
  ];
}

const totalOf = ({ total }: GroupConfig, plan: Plan | undefined): number | undefined =>
  total === 'instances' ? plan?.nextTotal : total;

function beyondTotal(config: GroupConfig, plan: Plan | undefined): Problem[] {
  const total = totalOf(config, plan);
  if (total === undefined) return [];
  const items = said(config).flatMap(({ item }) => (item >= total ? item : []));
  if (items.length === 0) return [];
  return [
    note(
      'out-of-range',
      `The configuration speaks of items ${formatSomeItems(items)}, and the total is ${total}`,
      'Right if the total is to grow again',
    ),
  ];
}

function margins(snapshot: GroupSnapshot): Problem[] {
  const problems: Problem[] = [];
  const records = recordsOf(snapshot);
  const hasty = records.filter(({ lease }) => lease < SHORTEST_LEASE);
  if (hasty.length > 0) {
    problems.push(
      warning(
        'short-lease',
        `Leases shorter than ${SHORTEST_LEASE} ms run out when a machine is busy: ${list(ids(hasty))}`,
        'Raise lease.duration or registry.sessionTimeout',
      ),
    );
  }
  // A renewal goes out every quarter of a lease, and has to be answered in time.
  const shortest = Math.min(...records.map(({ lease }) => lease));
  if (snapshot.roundTrip > shortest / 4) {
    problems.push(
      warning(
        'slow-store',
        `The store took ${Math.round(snapshot.roundTrip)} ms to answer; the shortest lease is ${shortest} ms`,
        'Look after the ensemble (disks, load), or make the leases longer',
      ),
    );
  }
  const plan = planOf(snapshot);
  const ahead = (plan?.epoch ?? 0) - snapshot.at;
  if (plan && ahead > CLOCK_TOLERANCE) {
    problems.push(
      warning(
        'clock-ahead',
        `The plan was written ${Math.round(ahead / 1_000)} s ahead of this clock, by ${plan.office.id}`,
        'Set the clocks; tokens keep rising either way',
      ),
    );
  }
  return problems;
}

/** What the configuration says of items, in their order. */
function said({ items }: GroupConfig): (GroupConfig['items'][number] & { item: number })[] {
  return Object.entries(items).map(([item, settings]) => ({ ...settings, item: Number(item) }));
}

export const isBuiltIn = (strategy: string): boolean => Object.hasOwn(builtInStrategies, strategy);

const MOST_LISTED = 5;
const ids = (seen: readonly { readonly id: string }[]): string[] => [
  ...new Set(seen.map(({ id }) => id)),
];

/** Names the first few. */
export function list(names: readonly string[]): string {
  const rest = names.length - MOST_LISTED;
  const shown = names.slice(0, MOST_LISTED).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

type Making = (code: ProblemCode, message: string, advice: string) => Problem;
const making =
  (severity: Problem['severity']): Making =>
  (code, message, advice) => ({ code, severity, message, advice });
const error = making('error');
const warning = making('warning');
const note = making('note');
