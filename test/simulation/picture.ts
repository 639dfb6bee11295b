import type { GroupConfig } from '../../lib/coordinator/group-config.js';
import type { Observer } from '../../lib/coordinator/observer.js';
import { countHolders, isShutOut, restProblem, type Seen } from './operators.js';
import type { SimulatedProcess } from './simulated-process.js';

/** Those who are there, and what the operator wants of them. */
export interface Group {
  readonly alive: readonly SimulatedProcess[];
  readonly config: GroupConfig;
}

/** All that has to fit together when a group is at rest. */
export interface Picture extends Group {
  readonly observer: Observer | undefined;
  /** Who has been told that a rebalance started, and not yet that it completed. */
  readonly rebalancing: ReadonlySet<string>;
}

const seen = ({ id, weight, coordinator: { items } }: SimulatedProcess): Seen => ({
  id,
  weight,
  items,
});

/** Who holds what by its own word; `-` is nobody. */
export function ownersIn(picture: Group): string[] {
  return holdersIn(picture).map((holder) => holder?.id ?? '-');
}

export function holdersIn({ alive, config }: Group): (SimulatedProcess | undefined)[] {
  const { total } = config;
  const count =
    total === 'instances'
      ? countHolders(alive.map(seen), config)
      : Math.max(total, ...alive.map(({ coordinator }) => coordinator.total));
  const holders = Array.from({ length: count }, (): SimulatedProcess | undefined => undefined);
  for (const process of alive)
    for (const item of process.coordinator.items) holders[item] = process;
  return holders;
}

/** What is not as it should be in quiet times. */
export function problemIn(picture: Picture): string | undefined {
  const { alive, config, rebalancing } = picture;
  const unready = alive.find(
    ({ id, coordinator }) => coordinator.status !== (isShutOut(id, config) ? 'drained' : 'ready'),
  );
  if (unready) {
    const { name, coordinator, registry } = unready;
    return `${name} is ${coordinator.status}, its session ${registry.session.state} ${registry.session.id ?? ''}`;
  }
  const group = alive.map(seen);
  const total = config.total === 'instances' ? countHolders(group, config) : config.total;
  const other = alive.find(({ coordinator }) => coordinator.total !== total);
  if (other) return `${other.name} works with a total of ${other.coordinator.total}, not ${total}`;
  const problem = restProblem(group, config, total);
  if (problem !== undefined) {
    const held = alive.map(({ name, coordinator }) => `${name} has ${coordinator.items.join(' ')}`);
    return `${problem}: ${held.join('; ')}`;
  }
  const misled = misledIn(picture);
  if (misled !== undefined) return misled;
  const untold = alive.find(({ name }) => rebalancing.has(name));
  if (untold) return `${untold.name} is not told that the rebalance completed`;
  const leaders = alive.filter(({ coordinator }) => coordinator.isLeader).length;
  return leaders === 1 ? undefined : `${leaders} leaders`;
}

/** What the observer sees otherwise than it is. */
function misledIn(picture: Picture): string | undefined {
  const { observer } = picture;
  if (!observer) return undefined;
  const owners = ownersIn(picture);
  const believed = Array.from(
    { length: observer.total },
    (_, i) => observer.ownerOf(i)?.instanceId ?? '-',
  );
  return believed.join() === owners.join()
    ? undefined
    : `the observer sees ${believed.join(' ')} instead of ${owners.join(' ')}`;
}
