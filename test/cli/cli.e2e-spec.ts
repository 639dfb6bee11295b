import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem, Wait } from '../../lib/admin/index.js';
import { decodeConfig, type GroupConfig } from '../../lib/coordinator/group-config.js';
import { verbs } from '../../lib/cli/verbs.js';
import { Group, TIMEOUT } from '../e2e/group.js';
import { Operator } from '../e2e/operator.js';
import { eventually } from '../kit/eventually.js';
import { freePort } from '../kit/free-port.js';
import { uniqueNamespace } from '../kit/namespace.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { command, MAIN, type Outcome, outcomeOf, startCommand } from './command.js';

const WIDTH = 80;
const SECONDS = { timeout: 30_000 };

interface Status {
  readonly state: string;
  readonly total: number;
  readonly instances: readonly { id: string; state: string; items: number[] }[];
  readonly waits: readonly Wait[];
  readonly configuration: GroupConfig;
  readonly problems: readonly Problem[];
}

function expectFits(text: string): void {
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(WIDTH);
}

/** It failed as it should: with its exit code, in one line, and without a stack. */
function expectRefused({ code, out, err }: Outcome, expected: number, reason: RegExp): void {
  expect(err).toMatch(reason);
  expect(err).toMatch(/^nest-sharding: [^\n]+\n$/);
  expect({ code, out }).toEqual({ code: expected, out: '' });
}

describe('the command nest-sharding', () => {
  const connect = sharedConnect();
  let group: Group;
  let operator: Operator;

  beforeAll(async () => {
    operator = await Operator.open(connect);
    group = new Group({ connect, label: 'cli', total: 12 });
    await Promise.all([
      group.start('ada', { labels: { zone: 'a' } }),
      group.start('ben', { labels: { zone: 'b' } }),
      group.start('cleo', { labels: { zone: 'b' } }),
    ]);
    await group.settled(30_000);
  }, TIMEOUT);

  afterAll(async () => {
    await Promise.all(group.members.map((member) => member.kill()));
    await operator.close();
  }, TIMEOUT);

  const on = (namespace: string): string[] => ['--connect', connect, '--namespace', namespace];
  const sharding = (line: string, namespace = group.namespace): Promise<Outcome> =>
    command([...line.split(' '), ...on(namespace)]);

  async function json<T>(line: string, namespace?: string): Promise<T> {
    const { code, out, err } = await sharding(`${line} --json`, namespace);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out) as T;
  }

  const config = async (): Promise<GroupConfig> =>
    decodeConfig((await operator.get(`/${group.namespace}/config`)).data);

  const settled = (): Promise<Status> =>
    eventually(async () => {
      const status = await json<Status>('status');
      return status.state === 'settled' && status;
    }, SECONDS);

  describe('looks', () => {
    it('at who holds what', async () => {
      const { code, out, err } = await sharding('status');
      expect({ code, err }).toEqual({ code: 0, err: '' });
      for (const text of ['settled', '12 items', 'ada', 'ben', 'cleo', 'zone=b', 'led by']) {
        expect(out).toContain(text);
      }
      // Nothing for a terminal where there is none.
      expect(out).not.toContain('\u001B');
      expectFits(out);
      const { instances } = await json<Status>('status');
      expect(instances.map(({ items }) => items.length)).toEqual([4, 4, 4]);
    });

    it('at what would happen, and writes nothing', async () => {
      const before = await operator.get(`/${group.namespace}/sharding`);
      const prediction = await json<{ moves: number; loads: object[] }>('plan --join dora');
      expect(prediction).toMatchObject({ moves: 3, settles: true });
      expect(prediction.loads).toHaveLength(4);
      const { out } = await sharding('plan --leave ada --total 24 --weight ben=2');
      expectFits(out);
      expect(await operator.get(`/${group.namespace}/sharding`)).toEqual(before);
    });

    it('at what happened, and what is wrong', async () => {
      const { entries } = await json<{ entries: { why: { joined: string[] } }[] }>('history');
      expect(entries.flatMap(({ why }) => why.joined).toSorted()).toEqual(['ada', 'ben', 'cleo']);
      expectFits((await sharding('history')).out);
      expect(await json('doctor')).toEqual({ healthy: true, problems: [] });
      expect((await sharding('doctor')).out).toBe('Healthy: nothing was found.\n');
    });

    it('at every change, until Ctrl-C', async () => {
      const watching = startCommand(['watch', '--json', ...on(group.namespace)]);
      const outcome = outcomeOf(watching);
      let out = '';
      watching.stdout!.on('data', (data: Buffer) => (out += data.toString()));
      await eventually(() => out.includes('\n'), SECONDS);
      await json('pause --yes');
      const last = (): Status => JSON.parse(out.trim().split('\n').at(-1)!) as Status;
      await eventually(() => out.endsWith('\n') && last().configuration.paused, SECONDS);
      await json('resume --yes');
      await eventually(() => out.endsWith('\n') && !last().configuration.paused, SECONDS);
      watching.kill('SIGINT');
      expect(await outcome).toMatchObject({ code: 0, err: '' });
    });

    it('as long as somebody reads what it says, and no longer', async () => {
      const watching = startCommand(['watch', '--json', ...on(group.namespace)]);
      const exit = once(watching, 'exit');
      await once(watching.stdout!, 'data');
      watching.stdout!.destroy();
      await json('pause --yes');
      expect(await exit).toEqual([0, null]);
      await json('resume --yes');
    });

    it('and fails where its answer cannot be written', async () => {
      const full = await open('/dev/full', 'w');
      const child = spawn(process.execPath, [MAIN, '--help'], {
        stdio: ['ignore', full.fd, 'pipe'],
      });
      const [code] = (await once(child, 'exit')) as [number];
      await full.close();
      expect(code).toBe(1);
    });

    it('for as long as it was told', async () => {
      const { code, out } = await sharding('watch --timeout 0.5');
      expect(code).toBe(0);
      expect(out).toMatch(/^\d\d:\d\d:\d\d settled, 12 items, led by \w+, ada 4 ben 4 cleo 4\n$/);
    });
  });

  describe('changes', () => {
    it('the total', async () => {
      const answer = await json<{ changed: boolean }>('set-total 13 --yes');
      expect(answer).toMatchObject({ changed: true, configuration: { total: 13 } });
      await eventually(async () => (await settled()).total === 13, SECONDS);
      expect(await json('set-total 13 --yes')).toMatchObject({ changed: false });
      await json('set-total 12 --yes');
      await eventually(async () => (await settled()).total === 12, SECONDS);
    });

    it('an instance into one that holds nothing, and waits for it', async () => {
      expect(await json('drain ben --yes')).toMatchObject({ drained: true, items: [] });
      const ben = group.members.find(({ id }) => id === 'ben')!;
      expect(ben.items).toEqual([]);
      expect((await settled()).instances[1]).toMatchObject({ id: 'ben', state: 'drained' });
      await json('undrain ben --yes');
      await eventually(() => ben.items.length === 4, SECONDS);
    });

    it.each<[string, string, Partial<GroupConfig>]>([
      ['set-strategy rendezvous', 'set-strategy sticky', { strategy: 'rendezvous' }],
      ['set-strategy ours --force', 'set-strategy sticky', { strategy: 'ours' }],
      [
        'set-param 0-1 eu',
        'set-param 0-1 --clear',
        { items: { 0: { parameter: 'eu' }, 1: { parameter: 'eu' } } },
      ],
      ['set-weight ada 2', 'set-weight ada default', { instances: { ada: { weight: 2 } } }],
      ['set-weight --item 3 2.5', 'set-weight --item 3 default', { items: { 3: { weight: 2.5 } } }],
      ['set-needs 3 zone=b', 'set-needs 3 --clear', { items: { 3: { needs: { zone: 'b' } } } }],
      ['set-spread zone', 'set-spread --clear', { spreadOver: 'zone' }],
      ['set-limit 10%', 'set-limit --clear', { maxMoves: '10%' }],
      ['pin 3 cleo', 'unpin 3', { items: { 3: { pin: 'cleo' } } }],
      ['disable --item 3', 'enable --item 3', { items: { 3: { disabled: true } } }],
      ['disable ada', 'enable ada', { instances: { ada: { disabled: true } } }],
      ['cordon ada', 'uncordon ada', { instances: { ada: { cordoned: true } } }],
      ['drain ada --no-wait', 'undrain ada', { instances: { ada: { drained: true } } }],
      ['pause', 'resume', { paused: true }],
    ])('the configuration: %s, and back: %s', async (there, back, difference) => {
      const before = await config();
      const { code, out, err } = await sharding(`${there} --yes`);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expectFits(out);
      expect(await config()).toEqual({ ...before, ...difference });
      await json(`${back} --yes`);
      expect(await config()).toEqual(before);
    });

    it('what the leader looks at', async () => {
      await settled();
      const { version } = (await operator.get(`/${group.namespace}/sharding`)).stat;
      expect(await json('reshard --yes')).toEqual({ requested: true });
      await eventually(async () => {
        const { stat } = await operator.get(`/${group.namespace}/sharding`);
        return stat.version > version;
      }, SECONDS);
    });

    it('nothing else where a label is missing: the rest runs', async () => {
      const { warnings } = await json<{ warnings: string[] }>('set-needs 0-1 zone=moon --yes');
      expect(warnings).toEqual([
        'no instance that may be given items has zone=moon, which is needed by 0-1',
      ]);
      await eventually(async () => {
        const { waits, problems } = await json<Status>('status');
        expect(waits).toEqual([
          { items: [0, 1], reason: 'needs', why: 'no instance has zone=moon' },
        ]);
        expect(problems).toEqual([expect.objectContaining({ code: 'unplaced' })]);
      }, SECONDS);
      const { code, out } = await sharding('doctor');
      expect(code).toBe(1);
      expectFits(out);
      expectFits((await sharding('status')).out);
      await json('set-needs 0-1 --clear --yes');
      await settled();
    });

    it('only what was not changed by somebody else meanwhile, and tells who was too late', async () => {
      const wishes = ['cordon ada', 'cordon ben', 'set-param 5 x', 'set-limit 3'];
      const done = (found: GroupConfig): boolean[] => [
        found.instances['ada']?.cordoned === true,
        found.instances['ben']?.cordoned === true,
        found.items[5]?.parameter === 'x',
        found.maxMoves === 3,
      ];
      const outcomes = await Promise.all(wishes.map((wish) => sharding(`${wish} --yes`)));
      expect(outcomes.map(({ code }) => code === 0)).toEqual(done(await config()));
      for (const outcome of outcomes.filter(({ code }) => code !== 0)) {
        expectRefused(outcome, 6, /Somebody else changed the configuration meanwhile/);
      }
      for (const wish of [
        'uncordon ada',
        'uncordon ben',
        'set-param 5 --clear',
        'set-limit --clear',
      ]) {
        await json(`${wish} --yes`);
      }
    });

    it(
      'all or nothing, when it is killed in the middle',
      async () => {
        const before = await config();
        const codes: (number | null)[] = [];
        for (let delay = 150; delay < 1_500; delay += 150) {
          const total = before.total === 12 ? 24 : 12;
          const child = startCommand(['set-total', `${total}`, '--yes', ...on(group.namespace)]);
          const outcome = outcomeOf(child);
          await sleep(delay);
          child.kill('SIGKILL');
          codes.push((await outcome).code);
          expect([
            { ...before, total: 12 },
            { ...before, total: 24 },
          ]).toContainEqual(await config());
        }
        expect(codes).toContain(null);
        await json('set-total 12 --yes');
        await eventually(async () => (await settled()).total === 12, SECONDS);
      },
      TIMEOUT,
    );
  });

  describe('refuses', () => {
    it.each([
      ['set-total 0 --yes', 1, /total is 0, expected a whole number from 1/],
      ['set-total -3 --yes', 1, /total is -3/],
      ['set-total 1.5 --yes', 1, /total is 1.5/],
      ['set-total 1000001 --yes', 1, /from 1 to 1000000/],
      ['set-total many --yes', 2, /the total is "many"/],
      ['set-weight ada -1 --yes', 1, /weight is -1/],
      ['set-weight ada NaN --yes', 2, /the weight is "NaN"/],
      ['set-weight --item 3 0 --yes', 1, /greater than 0/],
      ['set-strategy nonsense --yes', 1, /"nonsense" is not built in/],
      ['pin 3 nobody --yes', 1, /no instance "nobody": registered are ada, ben, cleo/],
      ['drain nobody --yes', 1, /no instance "nobody"/],
      ['cordon nobody --yes', 1, /no instance "nobody"/],
      ['disable --item 99 --yes', 1, /no item 99/],
      ['set-limit 0 --yes', 1, /maxMoves is 0/],
      ['plan --leave nobody', 1, /"nobody" cannot leave/],
      ['remove --yes', 1, /is lived in by ada, ben, cleo/],
      ['set-total 6', 1, /no terminal to ask: add --yes/],
      ['stats', 2, /Did you mean status/],
      ['status extra', 2, /Unknown argument: extra/],
      ['status --auth user:password', 2, /Unknown argument: auth\n$/],
    ])('%s', async (line, code, reason) => {
      const before = await config();
      expectRefused(await sharding(line), code, reason);
      expect(await config()).toEqual(before);
    });

    it('a namespace that is not there', async () => {
      const outcome = await sharding('status', 'nobody-lives-here');
      expectRefused(outcome, 4, /no group in the namespace "nobody-lives-here"/);
      expectRefused(await sharding('set-total 5 --yes', 'nobody-lives-here'), 4, /no group/);
      expect(await operator.find('/nobody-lives-here')).toBeUndefined();
    });

    it('to wait for a dead ensemble', async () => {
      const port = await freePort();
      const outcome = await command(['status', '--connect', `127.0.0.1:${port}`]);
      expectRefused(outcome, 3, new RegExp(`no ZooKeeper server answered .*127.0.0.1:${port}\n$`));
    });

    it('to guess where ZooKeeper is, unless it is in the environment', async () => {
      expectRefused(await command(['status']), 2, /where is ZooKeeper/);
    });

    it('to make the chroot of a mistyped address', async () => {
      const chroot = `/${uniqueNamespace('typo')}`;
      const outcome = await command(['status', '--connect', connect + chroot, '--namespace', 'a']);
      expectRefused(outcome, 3, new RegExp(`: there is no chroot ${chroot} on [^ ]+\n$`));
      expect(await operator.find(chroot)).toBeUndefined();
      const env = { ZOOKEEPER_CONNECT: connect };
      const { code } = await command(['status', '--namespace', group.namespace], env);
      expect(code).toBe(0);
    });
  });

  it(
    'needs the credentials of a group that is closed to others',
    async () => {
      const credentials = 'owner:s3cret';
      const closed = new Group({ connect, label: 'cli-closed', total: 2 });
      const owner = await closed.start('ada', { credentials });
      await closed.settled(30_000);
      const line = ['status', ...on(closed.namespace)];
      expectRefused(await command(line), 5, /access denied/);
      const wrong = await command(line, { NEST_SHARDING_AUTH: 'owner:wr0ng' });
      expectRefused(wrong, 5, /access denied/);
      expect(wrong.err).not.toContain('wr0ng');
      const { code, out } = await command(line, { NEST_SHARDING_AUTH: credentials });
      expect(code).toBe(0);
      expect(out).toMatch(/led by\sada/);
      const change = ['set-total', '3', '--yes', ...on(closed.namespace)];
      expectRefused(await command(change), 5, /access denied/);
      expect((await command(change, { NEST_SHARDING_AUTH: credentials })).code).toBe(0);
      await owner.leave();
    },
    TIMEOUT,
  );

  it(
    'tells of a crash, and of the lease that is waited out',
    async () => {
      const mortal = new Group({ connect, label: 'cli-crash', total: 4 });
      const [, ben] = await mortal.startAll('ada', 'ben');
      await mortal.settled(30_000);
      await ben!.kill();
      await eventually(async () => {
        const { waits, instances } = await json<Status>('status', mortal.namespace);
        expect(waits).toEqual([
          expect.objectContaining({ from: 'ben', to: 'ada', reason: 'lease' }),
        ]);
        expect(instances[1]).toMatchObject({ id: 'ben', state: 'gone' });
      }, SECONDS);
      await Promise.all(mortal.running.map((member) => member.leave()));
    },
    TIMEOUT,
  );

  it(
    'finds a leader that does nothing',
    async () => {
      const frozen = new Group({ connect, label: 'cli-frozen', total: 4 });
      const ada = await frozen.start('ada', { sessionTimeout: 30_000 });
      await frozen.settled(30_000);
      await ada.freeze();
      await json('reshard --yes', frozen.namespace);
      const { code, out } = await sharding('doctor --json', frozen.namespace);
      ada.resume();
      expect(code).toBe(1);
      const { problems } = JSON.parse(out) as { problems: Problem[] };
      expect(problems).toEqual([
        expect.objectContaining({ code: 'idle-leader', severity: 'error' }),
      ]);
      await ada.leave();
    },
    TIMEOUT,
  );

  it(
    'removes what nobody lives in',
    async () => {
      const past = new Group({ connect, label: 'cli-past', total: 4 });
      const ada = await past.start('ada', { seedView: true });
      await past.settled(30_000);
      await ada.leave();
      expect(await json('remove --yes', past.namespace)).toEqual({ removed: true });
      expect(await operator.find(`/${past.namespace}`)).toBeUndefined();
      expectRefused(await sharding('remove --yes', past.namespace), 4, /no group/);
    },
    TIMEOUT,
  );

  describe('helps', () => {
    it('with all verbs', async () => {
      const { code, out } = await command(['--help']);
      expect(code).toBe(0);
      for (const { usage } of verbs) expect(out).toContain(`nest-sharding ${usage.split(' ')[0]}`);
      expectFits(out);
    });

    it('a shell to complete its words', async () => {
      const { code, out } = await command(['completion'], { SHELL: '/bin/bash' });
      expect(code).toBe(0);
      expect(out).toContain('complete -o bashdefault');
      expect((await command(['completion'], { SHELL: '/bin/zsh' })).out).toContain('#compdef');
      const words = await command(['--get-yargs-completions', 'nest-sharding', 'set-']);
      expect(words.out.split('\n')).toEqual(expect.arrayContaining(['set-total', 'set-weight']));
    });
  });
});
