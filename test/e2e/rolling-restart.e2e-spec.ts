import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ExitStatus } from '../kit/guarded-process.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { report } from './fault-table.js';
import { type GroupConfig, now } from './fixtures/member.protocol.js';
import { FORMATION, type Group, withGroup } from './group.js';
import type { Member } from './member.js';
import { longestGap } from './recording.js';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const TOTAL = 64;
/** Leases of two seconds: a restart of so many processes keeps a machine busy. */
const sessionTimeout = 4_000;
/** Within this time an instance is ready again, also where a session and a lease have to end first. */
const RESTART = 60_000;
/** Longer than any restart takes: whoever goes comes back in time. */
const REJOIN_WINDOW = 2 * RESTART;
const TIMEOUT = 600_000;

interface Case {
  readonly scenario: string;
  readonly config: Pick<GroupConfig, 'rejoinWindow' | 'whileAway'>;
  readonly end: (member: Member) => Promise<ExitStatus>;
  readonly check: (outcome: Outcome) => void;
}

const leave = (member: Member): Promise<ExitStatus> => member.leave();
const kill = (member: Member): Promise<ExitStatus> => member.kill();
const wait = { rejoinWindow: REJOIN_WINDOW, whileAway: 'wait' } as const;
const lend = { rejoinWindow: REJOIN_WINDOW, whileAway: 'lend' } as const;

/** Each share once away and once back, and no moment of waiting for a session to end. */
function assertHandedOver({ moves, gap, lapses }: Outcome): void {
  // Where a lease runs out, because the machine did not let its holder run, more happens.
  if (lapses > 0) return;
  expect(moves).toHaveLength(2 * TOTAL);
  expect(gap).toBeLessThan(sessionTimeout);
}

/** Nobody else ever got a shard, except where a lease ran out. */
function assertWaitedFor({ moves, strays }: Outcome): void {
  expect(moves.filter(({ item }) => !strays.has(item))).toEqual([]);
}

const CASES: readonly Case[] = [
  // The longest first: it has the others beside it.
  { scenario: 'kill -9, each waited for', config: wait, end: kill, check: assertWaitedFor },
  {
    scenario: 'in good order, nobody waited for',
    config: {},
    end: leave,
    check: assertHandedOver,
  },
  { scenario: 'in good order, each waited for', config: wait, end: leave, check: assertWaitedFor },
  {
    scenario: 'in good order, shares lent meanwhile',
    config: lend,
    end: leave,
    check: (outcome) => {
      assertHandedOver(outcome);
      const { before, after, strays } = outcome;
      const isElsewhere = (item: number): boolean => before.get(item) !== after.get(item);
      expect([...before.keys()].filter((item) => isElsewhere(item) && !strays.has(item))).toEqual(
        [],
      );
    },
  },
];

/** What a rolling restart did to the shards. */
interface Outcome {
  /** Which id has which item, when all is at rest. */
  readonly before: ReadonlyMap<number, string>;
  readonly after: ReadonlyMap<number, string>;
  readonly moves: readonly Move[];
  readonly gap: number;
  readonly lapses: number;
  /** Items whose holder lost its lease, since the machine did not let it run: they go where there is room. */
  readonly strays: ReadonlySet<number>;
}

/** An item got another holder, by id: its next life is the same one. */
interface Move {
  readonly item: number;
  readonly from: string;
  readonly to: string;
}

describe('a rolling restart of eight processes', () => {
  let server: ZooKeeperServer;
  beforeAll(async () => void (server = await ZooKeeperServer.start()));
  afterAll(() => server.close());

  it.concurrent.each(CASES)(
    '$scenario',
    ({ scenario, config, end, check }) => {
      const { connect } = server;
      const options = { connect, label: 'rolling', total: TOTAL, config };
      return withGroup(options, async (group) => {
        for (const id of IDS) await group.start(id, { sessionTimeout });
        await group.settled(FORMATION);
        const from = now();
        const before = homesIn(group);
        for (const id of IDS) {
          // What a process takes to load is not what this is about.
          const startAgain = await group.prepare(id, { sessionTimeout });
          await end(group.running.find((member) => member.id === id)!);
          if (config.whileAway !== 'wait') await group.settled(RESTART);
          await startAgain();
          await group.settled(RESTART);
        }
        group.judge();

        const window = { from, to: now(), totals: [TOTAL, TOTAL] } as const;
        const gap = longestGap(group.holdings, window);
        const moves = movesIn(group, before, from);
        const lapses = group.lapsesSince(from);
        const name = `rolling restart of ${IDS.length}: ${scenario}`;
        await report({ scenario: name, total: TOTAL, gap, moves: moves.length, lapses });
        const strays = straysIn(group, from);
        check({ before, after: homesIn(group), moves, gap, lapses, strays });
      });
    },
    TIMEOUT,
  );
});

function homesIn({ running }: Group): Map<number, string> {
  return new Map(running.flatMap(({ id, items }) => items.map((item) => [item, id!] as const)));
}

/** By what the hooks told since then. */
function movesIn(group: Group, before: ReadonlyMap<number, string>, since: number): Move[] {
  const idOf = new Map(group.members.map(({ who, id }) => [who, id!]));
  const holder = new Map(before);
  const moves: Move[] = [];
  for (const event of group.history()) {
    if (event.kind !== 'acquired' || event.time < since) continue;
    const { item } = event;
    const from = holder.get(item)!;
    const to = idOf.get(event.who)!;
    holder.set(item, to);
    if (from !== to) moves.push({ item, from, to });
  }
  return moves;
}

function straysIn({ members }: Group, since: number): Set<number> {
  const released = members.flatMap(({ recording: { hooks } }) => hooks);
  const lost = released.filter(
    ({ t, reason }) => t >= since && (reason === 'lease-lost' || reason === 'evicted'),
  );
  return new Set(lost.map(({ item }) => item!));
}
