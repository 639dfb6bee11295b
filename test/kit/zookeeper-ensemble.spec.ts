import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './eventually.js';
import { ZooKeeperEnsemble } from './zookeeper-ensemble.js';

describe('ZooKeeperEnsemble', () => {
  let ensemble: ZooKeeperEnsemble;

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start({ links: true });
  });

  afterEach(async () => {
    for (const member of ensemble.members) {
      if (member.frozen) member.resume();
      await member.launch();
    }
    const [a, b, c] = ensemble.members;
    if (a && b && c) {
      for (const pair of [[a, b] as const, [a, c] as const, [b, c] as const]) {
        await ensemble.link(...pair).restore();
      }
    }
    await ensemble.ready();
  });

  afterAll(() => ensemble.close());

  it('has a leader and two followers', async () => {
    const leader = await ensemble.leader();
    expect(await leader.mode()).toBe('leader');
    expect(await ensemble.followers()).toHaveLength(2);
    expect(ensemble.connect.split(',')).toEqual(ensemble.members.map(({ connect }) => connect));
  });

  it('elects another leader when the leader is killed', async () => {
    const leader = await ensemble.leader();
    await leader.kill();
    await ensemble.ready();
    expect(await ensemble.leader()).not.toBe(leader);
    expect(await ensemble.followers()).toHaveLength(1);
    await leader.start();
    expect(await leader.mode()).toBe('follower');
  });

  it('elects another leader when the leader is frozen', async () => {
    const leader = await ensemble.leader();
    await leader.freeze();
    await ensemble.ready();
    expect(await ensemble.leader()).not.toBe(leader);
    leader.resume();
    await eventually(async () => expect(await leader.mode()).toBe('follower'));
  });

  it('leaves members alone that find each other by themselves', async () => {
    const pids = ensemble.members.map(({ pid }) => pid);
    await ensemble.members[0]!.kill();
    expect(await ensemble.reunite()).toBe(false);
    expect(ensemble.members.map(({ pid }) => pid)).toEqual([undefined, ...pids.slice(1)]);
  });

  it('starts members anew that do not find each other', async () => {
    const [silent, ...others] = ensemble.members;
    const { pid } = silent!;
    const pids = others.map((other) => other.pid);
    // Behind the ensemble's back: it takes the member for an active one.
    process.kill(pid!, 'SIGSTOP');
    expect(await ensemble.reunite(1_000)).toBe(true);
    expect(silent!.pid).not.toBe(pid);
    expect(others.map((other) => other.pid)).toEqual(pids);
  });

  it('can cut a leader off from one follower alone', async () => {
    const leader = await ensemble.leader();
    const [near, far] = await ensemble.followers();
    if (near === undefined || far === undefined) throw new Error('two followers expected');
    const link = ensemble.link(leader, far);
    await link.cut();
    await eventually(async () => expect(await far.mode()).toBeUndefined());
    expect(await leader.mode()).toBe('leader');
    expect(await near.mode()).toBe('follower');
    await link.restore();
    await eventually(async () => expect(await far.mode()).toBe('follower'));
  });

  it.each(['forth', 'back', 'both'] as const)(
    'gives up a leader whose links are frozen (%s), and takes it back',
    async (direction) => {
      const leader = await ensemble.leader();
      const followers = await ensemble.followers();
      for (const follower of followers) ensemble.link(leader, follower).freeze(direction);
      await eventually(
        async () => {
          const modes = await Promise.all(followers.map((follower) => follower.mode()));
          expect(new Set(modes)).toEqual(new Set(['follower', 'leader']));
        },
        { timeout: 20_000, label: 'a leader among the others' },
      );
      expect(await leader.mode()).not.toBe('follower');
      for (const follower of followers) ensemble.link(leader, follower).thaw();
      await ensemble.ready();
    },
  );
});
