import { describe, expect, it } from '@jest/globals';
import type { GroupStatus } from '../../lib/admin/index.js';
import { FORMATION, type Group, TIMEOUT, withGroup } from '../e2e/group.js';
import { eventually } from '../kit/eventually.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { command, type Outcome } from './command.js';

const IDS = ['ada', 'ben', 'cleo', 'dora', 'emil', 'fay'];
const ZONES: Readonly<Record<string, string>> = { ada: 'a', ben: 'a', cleo: 'b', dora: 'b' };
/** Two sessions and leases have to end where a leader is killed while another one takes over. */
const SETTLED = { timeout: 45_000, interval: 200 };

/** What an operator types, what has to come of it, and whether the leader dies of it. */
interface Order {
  readonly line: string;
  readonly isDone: (held: Held, status: GroupStatus) => boolean;
  readonly isLeaderKilled?: boolean;
}

/** What each instance holds. */
type Held = (id: string) => readonly number[];

const sizes = (held: Held): number[] => IDS.map((id) => held(id).length);
const inAll = (held: Held): number => sizes(held).reduce((sum, size) => sum + size, 0);

const ORDERS: readonly Order[] = [
  { line: 'set-total 24', isDone: (held) => inAll(held) === 24, isLeaderKilled: true },
  { line: 'set-weight ben 3', isDone: (held) => held('ben').length === 9 },
  {
    line: 'pin 5 cleo',
    isDone: (held) => held('cleo').includes(5),
    isLeaderKilled: true,
  },
  { line: 'set-param 5 {"shop":"north"}', isDone: () => true },
  { line: 'set-weight --item 7 4', isDone: (held) => inAll(held) === 24 },
  {
    line: 'drain dora',
    isDone: (held) => held('dora').length === 0 && inAll(held) === 24,
    isLeaderKilled: true,
  },
  { line: 'disable --item 3', isDone: (held) => inAll(held) === 23 },
  { line: 'disable emil', isDone: (held) => held('emil').length === 0 },
  { line: 'cordon fay', isDone: (held) => held('fay').length > 0 },
  { line: 'pause', isDone: (_, { configuration }) => configuration?.paused === true },
  // Nothing moves, except what the killed leader had.
  {
    line: 'undrain dora',
    isDone: (held) => inAll(held) === 23,
    isLeaderKilled: true,
  },
  { line: 'resume', isDone: (held) => held('dora').length > 0, isLeaderKilled: true },
  { line: 'enable emil', isDone: (held) => held('emil').length > 0 },
  { line: 'uncordon fay', isDone: (held) => inAll(held) === 23 },
  { line: 'enable --item 3', isDone: (held) => inAll(held) === 24 },
  { line: 'set-limit 2', isDone: (_, { configuration }) => configuration?.maxMoves === 2 },
  {
    line: 'unpin 5',
    isDone: (_, { configuration }) => configuration?.items[5]?.pin === undefined,
  },
  { line: 'set-spread zone', isDone: (held) => inAll(held) === 24 },
  {
    line: 'set-total 12',
    isDone: (held) => inAll(held) === 12,
    isLeaderKilled: true,
  },
  { line: 'set-strategy rendezvous', isDone: (held) => inAll(held) === 12 },
  { line: 'reshard', isDone: (held) => inAll(held) === 12 },
];

describe('a group of six', () => {
  it(
    'does what an operator says while its leader is killed again and again',
    () =>
      withGroup({ connect: sharedConnect(), label: 'operated', total: 12 }, async (group) => {
        const start = (id: string) => group.start(id, { labels: { zone: ZONES[id] ?? 'c' } });
        await Promise.all(IDS.map(start));
        await group.settled(FORMATION);
        for (const order of ORDERS) await carryOut(group, order, start);
        const { out } = await run(group, 'history');
        expect(out.split('\n').length).toBeGreaterThan(10);
        group.judge();
      }),
    2 * TIMEOUT,
  );
});

async function carryOut(
  group: Group,
  { line, isDone, isLeaderKilled = false }: Order,
  start: (id: string) => Promise<unknown>,
): Promise<void> {
  const ordered = run(group, `${line} --yes`);
  if (isLeaderKilled) {
    // While the order is on its way, or right after it.
    const leader = await eventually(() => group.running.find(({ leads }) => leads), SETTLED);
    await leader!.kill();
    await start(leader!.id!);
  }
  const { code, err } = await ordered;
  expect({ line, code, err: err.replaceAll(/^\d+ items? left.*\n/gm, '') }).toEqual({
    line,
    code: 0,
    err: '',
  });
  await eventually(
    async () => {
      const { out } = await run(group, 'status --json');
      const status = JSON.parse(out) as GroupStatus;
      const held: Held = (id) => group.running.find((member) => member.id === id)?.items ?? [];
      return status.state === 'settled' && status.instances.length === 6 && isDone(held, status);
    },
    { ...SETTLED, label: line },
  );
}

async function run(group: Group, line: string): Promise<Outcome> {
  const { connect } = group.options;
  return command([...line.split(' '), '--connect', connect, '--namespace', group.namespace]);
}
