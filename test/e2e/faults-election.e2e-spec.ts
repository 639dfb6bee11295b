import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { BOUND, FORMATION, type Group, T, TIMEOUT, withGroup } from './group.js';
import { passes } from './passes.js';
import type { Member } from './member.js';
import { Operator } from './operator.js';
import { type PassingWrite, Road } from './road.js';
import { withOpen } from './with-open.js';

const isLatchDelete = ({ operation, path }: PassingWrite): boolean =>
  operation === 'delete' && path.startsWith('/leader/election/latch/');

describe('the leadership', () => {
  let server: ZooKeeperServer;
  let operator: Operator;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    operator = await Operator.open(server.connect);
  });
  afterAll(async () => {
    await operator.close();
    await server.close();
  });

  const latchesOf = ({ namespace }: Group): string => `/${namespace}/leader/election/latch`;
  const inLine = (group: Group) => operator.children(latchesOf(group));

  /** `a` leads, over a road that can be disturbed, and the others stand in line in any order. */
  const ledBy = (
    label: string,
    sessionTimeout: number,
    others: readonly string[],
    test: (group: Group, leader: Member, road: Road) => Promise<void>,
  ): Promise<void> =>
    withGroup({ connect: server.connect, label, total: 8 }, async (group) => {
      const config = { sessionTimeout, lease: { duration: T / 2 } };
      await withOpen(await Road.build(server.port, group.namespace), async (road) => {
        const leader = await group.start('a', { ...config, connect: road.connect });
        await group.settled(FORMATION);
        await Promise.all(others.map((id) => group.start(id, config)));
        await group.toLead(leader);
        await test(group, leader, road);
      });
    });

  it.concurrent(
    'passes to one whose session was lost while it waited in line',
    () =>
      ledBy('in-line', T, ['b'], async (group, leader) => {
        const waiting = group.members[1]!;
        await group.suffers(
          'session lost while waiting in line',
          BOUND.comeBack,
          async (lapsing) => {
            lapsing(waiting);
            await waiting.freeze();
            await group.settled(BOUND.takeOver);
            waiting.resume();
          },
        );
        expect(waiting.leads).toBe(false);
        const scenario = 'kill -9 of the leader before one that had lost its place in line';
        await group.suffers(scenario, BOUND.takeOver, () => leader.kill());
        expect(waiting.leads).toBe(true);
        expect(await inLine(group)).toHaveLength(1);
      }),
    TIMEOUT,
  );

  // In these the session outlives every bound: only the resignation can make room for the next one.

  it.concurrent.each(['request', 'answer'] as const)(
    'is not kept by a forgotten latch when the %s of a resignation gets lost',
    (part) =>
      ledBy(`resignation-${part}`, 20_000, ['b', 'c'], async (group, leader, road) => {
        const before = await inLine(group);
        const isRequest = part === 'request';
        const lost = isRequest ? road.loseRequest(isLatchDelete) : road.loseAnswer(isLatchDelete);
        const scenario = `leader that lapsed resigns, the ${part} of its latch's delete lost`;
        await group.suffers(scenario, BOUND.takeOver, async (lapsing) => {
          lapsing(leader);
          await leader.freeze();
          await passes(T / 2 + 200);
          leader.resume();
          await lost;
          await eventually(() => expect(leader.reasons).toContain('lease-lost'));
        });
        // It stands in line again, with another node.
        await eventually(async () => {
          const after = await inLine(group);
          expect(after).toHaveLength(3);
          expect(after.filter((latch) => !before.includes(latch))).toHaveLength(1);
        });
      }),
    TIMEOUT,
  );

  it.concurrent(
    'passes on when the delete of a leaving leader gets lost',
    () =>
      ledBy('leaving', 20_000, ['b', 'c'], async (group, leader, road) => {
        const lost = road.loseRequest(isLatchDelete);
        const scenario = "leader leaves in good order, its latch's delete lost";
        await group.suffers(scenario, BOUND.takeOver, () => Promise.all([lost, leader.leave()]));
        expect(await inLine(group)).toHaveLength(2);
      }),
    TIMEOUT,
  );

  it.concurrent(
    'passes on when its latch is deleted by hand',
    () =>
      ledBy('latch-deleted', T, ['b', 'c'], async (group, leader) => {
        await group.suffers('latch of the leader deleted by hand', BOUND.takeOver, async () => {
          const number = (latch: string): number => Number(latch.slice(-10));
          const [first] = (await inLine(group)).toSorted((a, b) => number(a) - number(b));
          await operator.delete(`${latchesOf(group)}/${first}`);
          await eventually(() => expect(leader.leads).toBe(false));
        });
        expect(leader.leads).toBe(false);
        await eventually(async () => expect(await inLine(group)).toHaveLength(3));
      }),
    TIMEOUT,
  );
});
