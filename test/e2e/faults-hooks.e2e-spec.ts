import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import type { Behaviour, Behaviours, GroupConfig, HookName } from './fixtures/member.protocol.js';
import { BOUND, DRAIN_TIMEOUT, FORMATION, type Group, T, TIMEOUT, withGroup } from './group.js';
import type { Member } from './member.js';
import { Operator } from './operator.js';

const HOOKS: readonly HookName[] = [
  'leader',
  'leaderLost',
  'started',
  'completed',
  'acquired',
  'released',
];
const all = (behaviour: Behaviour): Behaviours =>
  Object.fromEntries(HOOKS.map((hook) => [hook, behaviour]));

describe('hooks misbehave', () => {
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
    config: Partial<GroupConfig>,
    test: (group: Group) => Promise<void>,
  ): Promise<void> => withGroup({ connect: server.connect, label, total: 8, config }, test);

  it.concurrent(
    'goes on when every hook throws',
    () =>
      inGroup('throws', { hooks: all({ throws: true }) }, async (group) => {
        await group.startAll('a', 'b');
        await group.suffers('every hook throws: join', BOUND.join, () => group.start('c'));
        const { leader } = group;
        const scenario = 'every hook throws: leave of the leader';
        await group.suffers(scenario, BOUND.orderly, () => leader.leave());
        for (const hook of HOOKS) expect(leader.hasLogged(`Worker@${hook}`)).toBe(true);
      }),
    TIMEOUT,
  );

  it.concurrent(
    'goes on when no hook ever ends',
    () =>
      inGroup('never', { hooks: all({ never: true }), drainTimeout: 400 }, async (group) => {
        // Each of them overruns its time, one after the other.
        const overruns = 4 * 400;
        await group.startAll('a', 'b');
        const join = 'no hook ever ends: join';
        await group.suffers(join, BOUND.join + overruns, () => group.start('c'));
        expect(group.members.some((one) => one.hasLogged('did not end within 400 ms'))).toBe(true);
        const leave = 'no hook ever ends: leave of the leader';
        await group.suffers(leave, BOUND.orderly + overruns, () => group.leader.leave());
      }),
    TIMEOUT,
  );

  it.concurrent(
    'lets go of shards whose worker ignores its signal, while the rest goes on',
    () =>
      inGroup('ignores', {}, async (group) => {
        const [stubborn] = await group.startAll('a', 'b');
        await group.settled(FORMATION);
        // Far beyond drainTimeout, session, lease and margin.
        stubborn!.send({ do: 'behave', hooks: { acquired: { delay: 60_000 } } });
        const acquired = () =>
          stubborn!.recording.hooks.filter(({ hook }) => hook === 'acquired').length;
        const before = acquired();
        const join = 'a worker ignores its signal beyond every bound: join';
        await group.suffers(join, BOUND.join, () => group.start('c'));
        expect(stubborn!.hasLogged('only its fencing token protects it now')).toBe(true);
        // What it did not have to give up was never interrupted, unless the machine let its lease lapse.
        if (!stubborn!.hasLogged('The lease ran out')) expect(acquired()).toBe(before);
        const leave = 'a worker ignores its signal beyond every bound: leave';
        await group.suffers(leave, BOUND.orderly + DRAIN_TIMEOUT, () => stubborn!.leave());
      }),
    TIMEOUT,
  );

  /**
   * Another one joins; asked to let go, the member answers from within a hook that lets nothing else run.
   * The rest take everything over meanwhile.
   */
  async function blockedWhenAsked(group: Group, blocked: Member, length: number): Promise<void> {
    const { hooks } = blocked.recording;
    const before = hooks.length;
    blocked.send({ do: 'behave', hooks: { started: { block: length } } });
    await group.start('c');
    await eventually(() =>
      expect(hooks.slice(before).map(({ hook }) => hook)).toEqual(['started']),
    );
    const others = group.running.filter((member) => member !== blocked);
    await eventually(() => expect(others.flatMap(({ items }) => items)).toHaveLength(8), {
      timeout: DRAIN_TIMEOUT + BOUND.takeOver,
    });
    expect(hooks).toHaveLength(before + 1);
  }

  it.concurrent(
    'waits out a member whose event loop is blocked beyond its session',
    () =>
      inGroup('blocked', {}, async (group) => {
        await group.startAll('a', 'b');
        await group.settled(FORMATION);
        const [blocked] = group.followers;
        const length = 2 * T + 4 * DRAIN_TIMEOUT;
        const scenario = 'event loop blocked beyond the session when asked to let go';
        await group.suffers(scenario, length + BOUND.comeBack, async (lapsing) => {
          lapsing(blocked!);
          await blockedWhenAsked(group, blocked!, length);
        });
      }),
    TIMEOUT,
  );

  it.concurrent(
    'evicts a member that is asked to let go and does not, though its session lives',
    () =>
      inGroup('evicted', {}, async (group) => {
        const leader = await group.start('a');
        await group.settled(FORMATION);
        // Its session outlives the leader's patience, its lease does not.
        const lasting = { sessionTimeout: 10 * T, lease: { duration: T / 2 } };
        const blocked = await group.start('b', lasting);
        await group.settled(FORMATION);
        const { path } = blocked;
        const registered = await operator.get(path);
        const length = 2 * T + 4 * DRAIN_TIMEOUT;
        const scenario = 'event loop blocked beyond drainTimeout + T in a living session: evicted';
        await group.suffers(scenario, length + BOUND.comeBack, async (lapsing) => {
          lapsing(blocked);
          await blockedWhenAsked(group, blocked, length);
          expect(await operator.find(path)).toBeUndefined();
        });
        expect(leader.hasLogged('Instance b has not let go of its shards')).toBe(true);
        expect(blocked.hasLogged('it lets go of everything and registers anew')).toBe(true);
        const again = await operator.get(path);
        expect(again.stat.owner).toBe(registered.stat.owner);
        expect(again.stat.createdId).toBeGreaterThan(registered.stat.createdId);
      }),
    TIMEOUT,
  );
});
