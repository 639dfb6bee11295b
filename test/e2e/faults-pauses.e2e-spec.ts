import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { TcpProxy } from '../kit/tcp-proxy.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { BOUND, FORMATION, type Group, T, TIMEOUT, withGroup } from './group.js';
import { passes } from './passes.js';
import type { Member } from './member.js';
import { Operator } from './operator.js';
import { withOpen } from './with-open.js';

const VICTIMS: readonly (readonly [string, (group: Group) => Member])[] = [
  ['a holder', ({ followers }) => followers[0]!],
  ['the leader', ({ leader }) => leader],
];

describe('processes stand still', () => {
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

  it.concurrent.each([{ total: 8 }, { total: 'instances' as const }])(
    'loses nothing when one is stopped past its session (total: $total)',
    ({ total }) =>
      withGroup({ connect: server.connect, label: 'stopped', total }, async (group) => {
        await group.startAll('a', 'b', 'c');
        for (const [what, pick] of VICTIMS) {
          const scenario = `SIGSTOP of ${what} past its session, and back`;
          await group.suffers(scenario, BOUND.comeBack, async (lapsing) => {
            const stopped = pick(group);
            lapsing(stopped);
            await stopped.freeze();
            await group.settled(BOUND.takeOver);
            stopped.resume();
          });
        }
      }),
    TIMEOUT,
  );

  it.concurrent(
    'lets a member surrender that was stopped past its lease only, and work again',
    () =>
      withGroup({ connect: server.connect, label: 'lapsed', total: 8 }, async (group) => {
        // The session outlives the lease by far, also where the machine is slow.
        const config = { sessionTimeout: 3 * T, lease: { duration: T / 2 } };
        await Promise.all(['a', 'b', 'c'].map((id) => group.start(id, config)));
        await group.settled(FORMATION);
        for (const [what, pick] of VICTIMS) {
          const lapsed = pick(group);
          const registered = await operator.get(lapsed.path);
          const scenario = `SIGSTOP of ${what} past its lease, not its session`;
          await group.suffers(scenario, BOUND.takeOver, async (lapsing) => {
            lapsing(lapsed);
            const lost = lapsed.items.map(() => 'lease-lost');
            await lapsed.freeze();
            await passes(T / 2 + 200);
            lapsed.resume();
            await eventually(() => expect(lapsed.reasons.slice(-lost.length)).toEqual(lost));
          });
          const still = await operator.get(lapsed.path);
          expect(still.stat.createdId).toBe(registered.stat.createdId);
          const { surrendered } = JSON.parse(still.data.toString()) as { surrendered: number };
          expect(surrendered).toBeGreaterThan(0);
        }
      }),
    TIMEOUT,
  );

  it.concurrent(
    'survives a network that goes silent for longer than the session',
    async () =>
      withOpen(await TcpProxy.start({ target: server.port }), (road) =>
        withGroup({ connect: server.connect, label: 'silent', total: 8 }, async (group) => {
          const cutOff = await group.start('a', { connect: road.connect });
          await group.settled(FORMATION);
          const others = await group.startAll('b', 'c');
          await group.toLead(cutOff);
          const scenario = 'network of the leader silent past its session';
          await group.suffers(scenario, BOUND.comeBack, async (lapsing) => {
            lapsing(cutOff);
            road.freeze();
            // It knows by its own clock, whatever else the machine does meanwhile.
            await eventually(() => expect(cutOff.items).toEqual([]), { timeout: BOUND.takeOver });
            await eventually(() => expect(others.flatMap(({ items }) => items)).toHaveLength(8), {
              timeout: BOUND.takeOver,
            });
            road.thaw();
          });
        }),
      ),
    TIMEOUT,
  );
});
