import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { BOUND, type Group, TIMEOUT, withGroup } from './group.js';

describe.each([{ total: 8 }, { total: 'instances' as const }])(
  'members come and go (total: $total)',
  ({ total }) => {
    let server: ZooKeeperServer;

    beforeAll(async () => void (server = await ZooKeeperServer.start()));
    afterAll(() => server.close());

    const inGroup = (label: string, test: (group: Group) => Promise<void>): Promise<void> =>
      withGroup({ connect: server.connect, label, total }, test);

    it.concurrent(
      'shares out anew when one joins and when one leaves in good order',
      () =>
        inGroup('join-leave', async (group) => {
          await group.startAll('a', 'b', 'c');
          await group.suffers('join', BOUND.join, () => group.start('d'));
          await group.suffers('leave of a holder in good order', BOUND.orderly, async () => {
            const [leaver] = group.followers;
            expect(await leaver!.leave()).toEqual({ code: null, signal: 'SIGTERM' });
            expect(leaver!.reasons.at(-1)).toBe('shutdown');
          });
          await group.suffers('leave of the leader in good order', BOUND.orderly, async () => {
            expect(await group.leader.leave()).toEqual({ code: null, signal: 'SIGTERM' });
          });
        }),
      TIMEOUT,
    );

    it.concurrent(
      'takes over from killed ones',
      () =>
        inGroup('kill', async (group) => {
          await group.startAll('a', 'b', 'c', 'd', 'e');
          await group.suffers('kill -9 of a holder', BOUND.takeOver, () =>
            group.followers[0]!.kill(),
          );
          await group.suffers('kill -9 of the leader', BOUND.takeOver, () => group.leader.kill());
          await group.suffers('kill -9 of the leader and a holder', BOUND.takeOver, () =>
            Promise.all([group.leader.kill(), group.followers[0]!.kill()]),
          );
        }),
      TIMEOUT,
    );

    it.concurrent(
      'begins again when all were killed at once',
      () =>
        inGroup('all-killed', async (group) => {
          await group.startAll('a', 'b', 'c');
          const bound = BOUND.comeBack + BOUND.join;
          await group.suffers('kill -9 of all at once, started again', bound, async () => {
            await Promise.all(group.running.map((member) => member.kill()));
            await group.startAll('a', 'b', 'c');
          });
        }),
      TIMEOUT,
    );
  },
);
