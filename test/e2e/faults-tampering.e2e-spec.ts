import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodePlan } from '../../lib/coordinator/plan-codec.js';
import { eventually } from '../kit/eventually.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { BOUND, FORMATION, type Group, TIMEOUT, withGroup } from './group.js';
import type { Member } from './member.js';
import { Operator } from './operator.js';
import { withOpen } from './with-open.js';

describe.each([{ total: 8 }, { total: 'instances' as const }])(
  'an operator tampers with the store (total: $total)',
  ({ total }) => {
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

    const inGroup = (label: string, test: (group: Group) => Promise<void>): Promise<void> =>
      withGroup({ connect: server.connect, label, total }, async (group) => {
        await group.startAll('a', 'b', 'c');
        await group.settled(FORMATION);
        await test(group);
      });

    it.concurrent.each(['a holder', 'the leader'])(
      'with the registration of %s',
      (which) =>
        inGroup('instance', async (group) => {
          const tampered = async (how: (path: string) => Promise<void>): Promise<void> => {
            const member = which === 'the leader' ? group.leader : group.followers[0]!;
            const before = await incarnationOf(member);
            await how(member.path);
            await eventually(async () => expect(await incarnationOf(member)).not.toBe(before), {
              timeout: BOUND.takeOver,
            });
            await eventually(() => expect(member.reasons).toContain('evicted'));
          };
          const incarnationOf = async ({ path, id }: Member): Promise<string> => {
            const { data } = await operator.get(path);
            const record = JSON.parse(data.toString()) as Record<string, string>;
            expect(record['instanceId']).toBe(id);
            return record['incarnation']!;
          };
          await group.suffers(`instance node of ${which} deleted by hand`, BOUND.takeOver, () =>
            tampered((path) => operator.delete(path)),
          );
          await group.suffers(`garbage in the instance node of ${which}`, BOUND.takeOver, () =>
            tampered((path) => operator.write(path, '{"instanceId":')),
          );
        }),
      TIMEOUT,
    );

    it.concurrent(
      'with the plan',
      () =>
        inGroup('plan', async (group) => {
          const path = `/${group.namespace}/sharding`;
          const readPlan = async () => decodePlan((await operator.get(path)).data);
          const tampered = async (how: () => Promise<void>): Promise<void> => {
            const { epoch } = await readPlan();
            await how();
            await eventually(async () => expect((await readPlan()).epoch).toBeGreaterThan(epoch), {
              timeout: BOUND.takeOver,
            });
          };
          await group.suffers('plan deleted by hand', BOUND.takeOver, () =>
            tampered(() => operator.deleteAll(path)),
          );
          await group.suffers('garbage in the plan', BOUND.takeOver, () =>
            tampered(() => operator.write(path, 'not a plan')),
          );
          await group.suffers('nothing in the plan', BOUND.takeOver, () =>
            tampered(() => operator.write(path, '')),
          );
        }),
      TIMEOUT,
    );

    it.concurrent(
      'with everything but the configuration',
      () =>
        inGroup('namespace', async (group) => {
          const registered = () => Promise.all(group.running.map(({ path }) => operator.get(path)));
          const scenario = 'all nodes but the configuration deleted by hand';
          await group.suffers(scenario, BOUND.comeBack, async () => {
            const before = await registered();
            for (const node of ['sharding', 'instances', 'leases', 'leader']) {
              await operator.deleteAll(`/${group.namespace}/${node}`);
            }
            await eventually(
              async () => {
                for (const [index, { stat }] of (await registered()).entries()) {
                  expect(stat.createdId).toBeGreaterThan(before[index]!.stat.createdId);
                }
              },
              { timeout: BOUND.comeBack },
            );
          });
        }),
      TIMEOUT,
    );
  },
);

describe('an operator changes the total', () => {
  it(
    'as a full barrier',
    async () =>
      withOpen(await ZooKeeperServer.start(), async ({ connect }) =>
        withOpen(await Operator.open(connect), (operator) =>
          withGroup({ connect, label: 'total', total: 8 }, async (group) => {
            await group.startAll('a', 'b', 'c');
            const path = `/${group.namespace}/config`;
            const change = async (total: number): Promise<void> => {
              const config = JSON.parse((await operator.get(path)).data.toString()) as object;
              await operator.write(path, JSON.stringify({ ...config, total }));
            };
            await group.suffers('total changed to 5', BOUND.orderly, () => change(5), [8, 5]);
            await group.suffers('total changed back', BOUND.orderly, () => change(8), [5, 8]);
          }),
        ),
      ),
    TIMEOUT,
  );
});
