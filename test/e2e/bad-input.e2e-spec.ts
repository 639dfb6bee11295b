import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PLAN_FORMAT } from '../../lib/coordinator/plan-codec.js';
import { eventually } from '../kit/eventually.js';
import { freePort } from '../kit/free-port.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { now } from './fixtures/member.protocol.js';
import { BOUND, FORMATION, type Group, T, TIMEOUT, withGroup } from './group.js';
import { Operator } from './operator.js';
import { withOpen } from './with-open.js';

const NEWER = Buffer.from([...Buffer.from('NDS'), PLAN_FORMAT + 1, 0, 1, 2, 3]);
const NEWER_MESSAGE = `it has format ${PLAN_FORMAT + 1}, and this release knows formats up to ${PLAN_FORMAT}`;

describe('bad input', () => {
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
    test: (group: Group) => Promise<void>,
    connect = server.connect,
  ): Promise<void> => withGroup({ connect, label, total: 4 }, test);
  const planOf = ({ namespace }: Group) => operator.get(`/${namespace}/sharding`);
  const inLine = ({ namespace }: Group) => operator.children(`/${namespace}/leader/election/latch`);

  it.concurrent(
    'unreachable ensemble: without startup.wait the application starts, its shards come later',
    async () =>
      withOpen(await ZooKeeperServer.start(), async (late) => {
        await late.stop();
        const test = async (group: Group): Promise<void> => {
          const member = await group.start('a', { connectTimeout: 8_000 });
          // Before the connectTimeout: held up only until nothing fatal can come any more.
          await member.process.up(7_900);
          expect(member.items).toEqual([]);
          const warning = `no ZooKeeper server answered within 8000 ms: ${late.connect}`;
          expect(member.hasLogged(warning)).toBe(false);
          await eventually(() => expect(member.hasLogged(warning)).toBe(true));
          expect(member.hasLogged('The application starts; its shards come later')).toBe(true);
          await late.start();
          await group.settled(FORMATION);
        };
        await inGroup('unreachable', test, late.connect);
      }),
    TIMEOUT,
  );

  it.concurrent(
    'unreachable ensemble: with startup.wait the application does not start',
    async () => {
      const connect = `127.0.0.1:${await freePort()}`;
      const test = async (group: Group): Promise<void> => {
        const startup = { wait: true, timeout: 60_000 };
        const { process } = await group.start('a', { startup, connectTimeout: 1_500 });
        const { code, text } = await process.failed(15_000);
        expect(code).toBe('UNREACHABLE');
        expect(text).toContain(`no ZooKeeper server answered within 1500 ms: ${connect}`);
        expect(text).toContain('check registry.connect');
        expect(await process.exited).toEqual({ code: 1, signal: null });
      };
      await inGroup('unreachable-wait', test, connect);
    },
    TIMEOUT,
  );

  it.concurrent(
    'plan of a later release: who joins says so, holds nothing and leaves it alone',
    () =>
      inGroup('newer', async (group) => {
        await operator.create(`/${group.namespace}/sharding`, NEWER);
        const { process, recording } = await group.start('a');
        await process.up(BOUND.join);
        await eventually(() => expect(group.members[0]!.hasLogged(NEWER_MESSAGE)).toBe(true));
        // Time enough for everything that it might do.
        await eventually(
          () => expect(recording.heard - recording.state!.t).toBeGreaterThan(2 * T),
          { timeout: BOUND.comeBack },
        );
        expect(recording.state).toMatchObject({ o: [], leads: false, status: 'connecting' });
        expect(recording.hooks).toEqual([]);
        const plan = await planOf(group);
        expect(plan.data).toEqual(NEWER);
        expect(plan.stat.version).toBe(0);
        expect(await inLine(group)).toEqual([]);
      }),
    TIMEOUT,
  );

  it.concurrent(
    'plan of a later release: who runs says so, lets go, and goes on when it is gone',
    () =>
      inGroup('newer-later', async (group) => {
        await group.startAll('a', 'b');
        await group.settled(FORMATION);
        const plan = await planOf(group);
        await operator.write(`/${group.namespace}/sharding`, NEWER);
        const { version } = (await planOf(group)).stat;
        await eventually(async () => {
          for (const member of group.running) {
            expect(member.recording.state).toMatchObject({ o: [], leads: false });
            expect(member.hasLogged(NEWER_MESSAGE)).toBe(true);
          }
          expect(await inLine(group)).toEqual([]);
        });
        expect((await planOf(group)).stat.version).toBe(version);
        await operator.write(`/${group.namespace}/sharding`, plan.data);
        await group.settled(BOUND.comeBack);
        group.judge();
      }),
    TIMEOUT,
  );

  it.concurrent.each([{ wait: false }, { wait: true }])(
    'wrong credentials: fatal at the start (startup.wait: $wait)',
    ({ wait }) =>
      inGroup('no-auth', async (group) => {
        await withOpen(await Operator.open(server.connect, 'owner:secret'), (owner) =>
          owner.create(`/${group.namespace}/config`, '{"total":4,"strategy":"sticky"}'),
        );
        const credentials = 'owner:mistaken';
        const { process } = await group.start('a', { credentials, startup: { wait } });
        const { code, text } = await process.failed(15_000);
        expect(code).toBe('NO_AUTH');
        expect(text).toContain(`/${group.namespace}/config`);
        expect(text).toContain('registry.auth');
        expect(process.logs.some((line) => line.text.includes('mistaken'))).toBe(false);
        expect(await process.exited).toEqual({ code: 1, signal: null });
      }),
    TIMEOUT,
  );

  it.concurrent(
    'id in use: named in the error, after the time that a dead session may take',
    () =>
      inGroup('duplicate', async (group) => {
        const [first] = await group.startAll('a');
        await group.settled(FORMATION);
        const bound = 2 * T + 10_000;
        const begun = now();
        const startup = { wait: true, timeout: 60_000 };
        const { process } = await group.start('a', { startup });
        const { text } = await process.failed(bound + BOUND.join);
        expect(now() - begun).toBeGreaterThan(bound);
        expect(text).toContain('The instance id "a" is used by another live instance');
        expect(text).toContain(`${first!.path} still belongs to another session after ${bound} ms`);
        expect(text).toContain('Give each instance its own instance.id, or leave it out');
        expect(await process.exited).toEqual({ code: 1, signal: null });
        // The first one has not noticed anything, but for a lease that a starved machine let lapse.
        await group.settled(FORMATION);
        expect(first!.items).toHaveLength(4);
        expect(first!.reasons.filter((reason) => reason !== 'lease-lost')).toEqual([]);
        group.judge();
      }),
    TIMEOUT,
  );
});
