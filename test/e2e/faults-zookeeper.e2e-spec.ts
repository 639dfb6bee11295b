import { describe, expect, it } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { ZooKeeperEnsemble } from '../kit/zookeeper-ensemble.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { now } from './fixtures/member.protocol.js';
import { withOpen } from './with-open.js';
import { BOUND, FORMATION, type Group, T, TIMEOUT, withGroup } from './group.js';
import type { Member } from './member.js';
import { passes } from './passes.js';

/** An outage during which everybody notices by itself, and the session's time runs out. */
async function outage(
  group: Group,
  lapsing: (...members: readonly Member[]) => void,
  begin: () => Promise<void>,
  end: () => Promise<void> | void,
): Promise<void> {
  lapsing(...group.running);
  const since = now();
  await begin();
  await eventually(
    () => {
      expect(group.running.flatMap(({ items }) => items)).toEqual([]);
      expect(group.running.filter(({ leads }) => leads)).toEqual([]);
    },
    { timeout: BOUND.takeOver, label: 'everybody has let go' },
  );
  await passes(since + 1.5 * T - now());
  await end();
}

describe('ZooKeeper fails', () => {
  it.concurrent.each([{ total: 8 }, { total: 'instances' as const }])(
    'and the group goes on when it comes back (total: $total)',
    async ({ total }) =>
      withOpen(await ZooKeeperServer.start(), (server) =>
        withGroup({ connect: server.connect, label: 'outage', total }, async (group) => {
          await group.startAll('a', 'b', 'c');
          await group.suffers(
            'ZooKeeper killed for longer than the session',
            BOUND.comeBack,
            (lapsing) =>
              outage(
                group,
                lapsing,
                () => server.kill(),
                () => server.start(),
              ),
          );
          await group.suffers(
            'ZooKeeper frozen for longer than the session',
            BOUND.comeBack,
            (lapsing) =>
              outage(
                group,
                lapsing,
                () => server.freeze(),
                () => server.resume(),
              ),
          );
          await group.suffers('ZooKeeper killed and started at once', BOUND.comeBack, async () => {
            await server.kill();
            await server.start();
          });
        }),
      ),
    TIMEOUT,
  );

  it.concurrent(
    'and there are no two holders while a server that lost the others keeps one of them content',
    // Long after the session is over the server that was cut off still answers reads and pings.
    async () =>
      withOpen(await ZooKeeperEnsemble.start({ links: true, syncLimit: 40 }), async (ensemble) => {
        const leader = await ensemble.leader();
        const [cutOff, other] = await ensemble.followers();
        const connect = `${leader.connect},${other!.connect}`;
        await withGroup({ connect, label: 'follower', total: 8 }, async (group) => {
          const rest = await group.startAll('a', 'b');
          await group.settled(FORMATION);
          const content = await group.start('c', { connect: cutOff!.connect });
          const scenario = 'a ZooKeeper follower cut off from its leader, with a holder on it';
          await group.suffers(scenario, BOUND.comeBack, async (lapsing) => {
            lapsing(content);
            const links = [leader, other!].map((server) => ensemble.link(cutOff!, server));
            for (const link of links) link.freeze();
            await eventually(() => expect(rest.flatMap(({ items }) => items)).toHaveLength(8), {
              timeout: BOUND.takeOver,
            });
            expect(content.items).toEqual([]);
            for (const link of links) link.thaw();
          });
        });
      }),
    TIMEOUT,
  );
});
