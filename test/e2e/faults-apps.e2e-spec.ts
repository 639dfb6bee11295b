import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deferred, eventually } from '../kit/eventually.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { BOUND, Group, T, TIMEOUT, withGroup } from './group.js';
import { MemberProcess } from './member.js';
import { Operator } from './operator.js';

describe('ids, groups and applications', () => {
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

  const inGroup = (
    label: string,
    total: number | 'instances',
    test: (group: Group) => Promise<void>,
  ): Promise<void> => withGroup({ connect: server.connect, label, total }, test);
  const ownerOf = async (path: string) => (await operator.get(path)).stat.owner;

  it.concurrent.each([{ total: 8 }, { total: 'instances' as const }])(
    'gives the shards to the next life of an id when the last one is over (total: $total)',
    ({ total }) =>
      inGroup('same-id', total, async (group) => {
        // Long enough for a process to start meanwhile.
        const config = { sessionTimeout: 2 * T, lease: { duration: T / 2 } };
        await Promise.all(['a', 'b', 'c'].map((id) => group.start(id, config)));
        for (const what of ['a holder', 'the leader']) {
          const scenario = `same id started again at once after kill -9 of ${what}`;
          await group.suffers(scenario, T + BOUND.comeBack, async () => {
            const killed = what === 'the leader' ? group.leader : group.followers[0]!;
            const startAgain = await group.prepare(killed.id!, config);
            await killed.kill();
            const again = await startAgain();
            await eventually(() =>
              expect(again.hasLogged('Another live session is registered as')).toBe(true),
            );
          });
        }
      }),
    TIMEOUT,
  );

  it.concurrent(
    'lets a second process with the id of a living one wait, and go on when that leaves',
    () =>
      inGroup('twice', 8, async (group) => {
        const [first] = await group.startAll('a', 'b');
        await group.suffers('same id started while the first one lives', BOUND.join, async () => {
          const session = await ownerOf(first!.path);
          const second = await group.start('a');
          await eventually(() =>
            expect(second.hasLogged('Another live session is registered as')).toBe(true),
          );
          // For longer than a session: nothing of the first one's is touched.
          await eventually(() => {
            expect(second.recording.heard - second.recording.state!.t).toBeGreaterThan(T);
          });
          expect(second.items).toEqual([]);
          expect(await ownerOf(first!.path)).toBe(session);
          expect(first!.items).toHaveLength(4);
          await first!.leave();
        });
      }),
    TIMEOUT,
  );

  it.concurrent(
    'runs two groups in one application on one connection',
    () =>
      inGroup('one', 8, async (one) => {
        const { connect } = server;
        const other = new Group({ connect, label: 'other', total: 'instances' });
        const start = async (id: string): Promise<void> => {
          const groups = [one.configure(id), other.configure(id, { registration: 'other' })];
          const config = { connect, sessionTimeout: T, apps: [groups] };
          const process = await MemberProcess.start(config);
          await Promise.all([one.adopt(process), other.adopt(process)]);
        };
        /** Happens once, when both are ready for it. */
        const both = async (what: string, bound: number, fault: () => Promise<unknown>) => {
          const happened = deferred<unknown>();
          let waiting = 2;
          const once = (): Promise<unknown> => {
            waiting -= 1;
            if (waiting === 0) happened.resolve(fault());
            return happened.promise;
          };
          await Promise.all([
            one.suffers(`two groups in one app: ${what}`, bound, once),
            other.suffers(`two groups in one app: ${what}`, bound, once),
          ]);
        };
        await Promise.all([start('a'), start('b')]);
        await both('join', BOUND.join, () => start('c'));
        for (const [index, { path }] of one.members.entries()) {
          expect(await ownerOf(path)).toBe(await ownerOf(other.members[index]!.path));
        }
        await both('kill -9', BOUND.takeOver, () => one.leader.kill());
        await both('leave', BOUND.orderly, () => one.leader.leave());
      }),
    TIMEOUT,
  );

  it.concurrent(
    'runs two applications in one process as two members',
    () =>
      inGroup('two-apps', 8, async (group) => {
        const start = async (name: string): Promise<MemberProcess> => {
          // Their ids are made up; the process is the same, so they have to differ otherwise.
          const apps = ['x', 'y'].map((app) => {
            const { id: _, ...config } = group.configure(`${name}-${app}`);
            return [config];
          });
          const { connect } = server;
          const process = await MemberProcess.start({ connect, sessionTimeout: T, apps });
          await group.adopt(process);
          return process;
        };
        const first = await start('a');
        await group.suffers('two apps in one process: join', BOUND.join, () => start('b'));
        const ids = await operator.children(`/${group.namespace}/instances`);
        expect(ids).toHaveLength(4);
        expect(ids.filter((id) => id.includes(`@-@${first.pid}@-@`))).toHaveLength(2);
        await group.suffers('two apps in one process: leave in good order', BOUND.orderly, () =>
          first.end('SIGTERM'),
        );
        const second = await start('c');
        await group.suffers('two apps in one process: kill -9', BOUND.takeOver, () =>
          second.end('SIGKILL'),
        );
      }),
    TIMEOUT,
  );
});
