import type { GroupConfig } from '../../lib/coordinator/group-config.js';
import { SeededRandom } from '../kit/seeded-random.js';
import { isInTheMood, MOODY } from './moody-strategy.js';

/** What an operator sets besides the total. */
export type Settings = Omit<GroupConfig, 'total'>;

export const PLAIN: Settings = { strategy: 'sticky', items: {}, instances: {}, paused: false };

/** Says this of one instance, and of all else what was said before. */
export function withInstance(
  settings: Settings,
  id: string,
  said: GroupConfig['instances'][string],
): Settings {
  return { ...settings, instances: { ...settings.instances, [id]: said } };
}

/** Even ids are in one zone, odd ones in the other. */
export function zoneOf(id: string): string {
  return /[02468]$/.test(id) ? 'x' : 'y';
}

/** What an operator comes to think of, by a number from 0 to 1; `ids` are those it knows. */
export function drawSettings(choice: number, ids: readonly string[]): Settings {
  // Each drawn on its own, so that every idea meets every instance.
  const random = new SeededRandom(Math.floor(choice * 2 ** 32));
  const item = random.below(7);
  const id = random.pick(ids);
  const other = random.pick(ids);
  const ideas: Partial<Settings>[] = [
    {},
    { paused: true },
    { paused: true, instances: { [id]: { drained: true } } },
    { instances: { [id]: { drained: true } } },
    { instances: { [id]: { disabled: true }, [other]: { weight: 3 } } },
    { instances: { [id]: { cordoned: true } } },
    { instances: { [id]: { cordoned: true }, [other]: { drained: true } } },
    { instances: { [id]: { weight: 0 } } },
    { items: { [item]: { disabled: true } } },
    { items: { [item]: { pin: id }, [item + 1]: { pin: other } } },
    { items: { [item]: { pin: id } }, instances: { [id]: { cordoned: true } } },
    { items: { [item]: { needs: { zone: 'x' } }, 0: { needs: { zone: 'y' } } } },
    { items: { [item]: { needs: { zone: 'nowhere' } } } },
    { items: { [item]: { weight: 4, parameter: 'heavy' } } },
    { spreadOver: 'zone' },
    { maxMoves: 1 },
    { maxMoves: '30%', instances: { [id]: { drained: true } } },
    { strategy: 'rendezvous' },
    { strategy: 'average', items: { [item]: { disabled: true } } },
    { strategy: 'nobody knows it' },
    { strategy: MOODY },
    { strategy: MOODY, items: { [item]: { pin: id } } },
  ];
  return { ...PLAIN, ...random.pick(ideas) };
}

/** A live instance and what it holds. */
export interface Seen {
  readonly id: string;
  /** By its own word. */
  readonly weight: number;
  readonly items: readonly number[];
}

/** Whether the configuration lets an instance hold nothing. */
export function isShutOut(id: string, { instances }: GroupConfig): boolean {
  return !!instances[id]?.drained || !!instances[id]?.disabled;
}

/** How many instances count for a total that follows them. */
export function countHolders(group: readonly Seen[], config: GroupConfig): number {
  return group.filter((one) => canHold(one, config)).length;
}

function canHold({ id, weight }: Pick<Seen, 'id' | 'weight'>, config: GroupConfig): boolean {
  return !isShutOut(id, config) && (config.instances[id]?.weight ?? weight) > 0;
}

/** What is not as the operator wants it in quiet times; found without asking the planner. */
export function restProblem(
  group: readonly Seen[],
  config: GroupConfig,
  total: number,
): string | undefined {
  const holders: string[][] = Array.from({ length: total }, () => []);
  for (const { id, items } of group) {
    for (const item of items) {
      if (item >= total) return `${id} has item ${item} of ${total}`;
      holders[item]!.push(id);
    }
  }
  const open = group.filter(
    (one) => canHold(one, config) && config.instances[one.id]?.cordoned !== true,
  );
  for (const [item, ids] of holders.entries()) {
    if (ids.length > 1) return `item ${item} is held by ${ids.join(' and ')}`;
    const holder = group.find(({ id }) => id === ids[0]);
    const problem = itemProblem(item, holder, config, open);
    if (problem !== undefined) return `item ${item} ${problem}`;
  }
  const isUnfit = config.strategy === MOODY && open.length > 0 && !isInTheMood(open.length, total);
  return isPlain(isUnfit ? { ...config, strategy: PLAIN.strategy } : config)
    ? imbalance(group, total)
    : undefined;
}

function itemProblem(
  item: number,
  holding: Seen | undefined,
  config: GroupConfig,
  open: readonly Seen[],
): string | undefined {
  const { disabled, pin, needs } = config.items[item] ?? {};
  const holder = holding?.id;
  const fitting = open.filter(({ id }) => !needs || needs['zone'] === zoneOf(id));
  const isPinned = open.some(({ id }) => id === pin);
  // What is free stays so while the group is paused, and what is held, too.
  if (config.paused) return undefined;
  if (disabled) return holder === undefined ? undefined : `is disabled and held by ${holder}`;
  if (!holding || holder === undefined)
    return fitting.length === 0 && !isPinned ? undefined : 'has no holder';
  if (!canHold(holding, config)) return `is held by ${holder}, which is to hold nothing`;
  if (isPinned) return holder === pin ? undefined : `is pinned to ${pin} and held by ${holder}`;
  if (needs && needs['zone'] !== zoneOf(holder)) return `is held by ${holder} in the wrong zone`;
  return undefined;
}

/** Nothing is said that makes shares uneven. */
export function isPlain({ strategy, items, instances, spreadOver, paused }: GroupConfig): boolean {
  if (strategy !== PLAIN.strategy || spreadOver !== undefined || paused) return false;
  return Object.keys(items).length === 0 && Object.keys(instances).length === 0;
}

/** Everyone has its exact share, rounded down or up. */
function imbalance(group: readonly Seen[], total: number): string | undefined {
  const whole = group.reduce((sum, { weight }) => sum + weight, 0);
  const isUneven = group.some(
    ({ items, weight }) => Math.abs(items.length - (total * weight) / whole) >= 1,
  );
  return isUneven ? `unbalanced: ${group.map(({ items }) => items.length).join(' ')}` : undefined;
}
