import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import {
  decodeConfig,
  type GroupConfig,
  type ItemConfig,
} from '../../lib/coordinator/group-config.js';
import { verbs } from '../../lib/cli/verbs.js';
import { Group, TIMEOUT } from '../e2e/group.js';
import { Operator } from '../e2e/operator.js';
import { checkoutRoot } from '../kit/checkout.js';
import { temporaryFolder, type TemporaryFolder } from '../kit/reaper.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { MAIN, withoutProgress } from './command.js';

const run = promisify(execFile);

/** What each command on the page has to say, or to have changed. */
const EFFECTS: readonly (readonly [RegExp, (out: string, config: GroupConfig) => void])[] = [
  [/--json/, () => {}],
  [/ status /, (out) => expect(out).toMatch(/12 items, 3 instances.*, led by/)],
  [/ watch /, (out) => expect(out).toMatch(/^\d\d:\d\d:\d\d settled, 12 items, .*ada 4/)],
  [/ history /, (out) => expect(out).toMatch(/^WHEN .* WHY\n.* joined/)],
  [/ doctor /, (out) => expect(out).toBe('Healthy: nothing was found.\n')],
  [/ plan .*--total 24/, (out) => expect(out).toMatch(/^24 items of 24 would move/)],
  [/ plan .*--leave ada/, (out) => expect(out).toMatch(/ada +4 +0\n[^]*dora +0 +6\n/)],
  [/ plan .*--join dora/, (out) => expect(out).toMatch(/^3 items of 12 [^]*dora +0 +3\n/)],
  [/ set-total 24/, (_, config) => expect(config.total).toBe(24)],
  [/ set-strategy/, (_, config) => expect(config.strategy).toBe('rendezvous')],
  [/ set-limit --clear/, (_, config) => expect(config).not.toHaveProperty('maxMoves')],
  [/ set-limit/, (_, config) => expect(config.maxMoves).toBe('25%')],
  [/ set-spread --clear/, (_, config) => expect(config).not.toHaveProperty('spreadOver')],
  [/ set-spread/, (_, config) => expect(config.spreadOver).toBe('zone')],
  [/ set-weight ada default/, (_, config) => expect(config.instances).toEqual({})],
  [/ set-weight ada/, (_, config) => expect(config.instances).toEqual({ ada: { weight: 2 } })],
  [/ set-weight --item .*default/, ofItem(3, 'weight', undefined)],
  [/ set-weight --item/, ofItem(3, 'weight', 5)],
  [/ set-param .*--clear/, ofItem(7, 'parameter', undefined)],
  [/ set-param/, ofItem(7, 'parameter', { table: 'orders' })],
  [/ set-needs .*--clear/, ofItem(3, 'needs', undefined)],
  [/ set-needs/, ofItem(3, 'needs', { zone: 'b' })],
  [/ unpin/, ofItem(5, 'pin', undefined)],
  [/ pin/, ofItem(5, 'pin', 'ada')],
  [/ disable --item/, ofItem(11, 'disabled', true)],
  [/ enable --item/, ofItem(11, 'disabled', undefined)],
  [/ drain/, (out) => expect(out).toContain('ben holds nothing any more.\n')],
  [/ cordon/, (_, config) => expect(config.instances).toEqual({ cleo: { cordoned: true } })],
  [/ (undrain|uncordon)/, (_, config) => expect(config.instances).toEqual({})],
  [/ pause/, (_, config) => expect(config.paused).toBe(true)],
  [/ resume/, (_, config) => expect(config.paused).toBe(false)],
  [/ reshard/, (out) => expect(out).toBe('A reshard was asked for.\n')],
];

function ofItem(item: number, key: keyof ItemConfig, value: unknown) {
  return (_: string, { items }: GroupConfig): void => expect(items[item]?.[key]).toEqual(value);
}

/** All that a document says stands in the row of its verb. */
function expectDocumented(page: string, command: string, document: object): void {
  const verb = /nest-sharding (\S+)/.exec(command)![1];
  const row = new RegExp(`^\\| \`${verb}\` +\\|.*\\|$`, 'm').exec(page.split('## JSON')[1]!)![0];
  const keys = Object.keys(document);
  expect(keys.length).toBeGreaterThan(5);
  for (const key of keys) expect(row).toContain(`\`${key}\``);
}

/** Every command on the page, in its order, against a real group with the names that it uses. */
describe('the page on operations', () => {
  const connect = sharedConnect();
  let folder: TemporaryFolder;
  let group: Group;
  let page: string;
  let commands: string[];
  let operator: Operator;

  beforeAll(async () => {
    page = await readFile(join(checkoutRoot, 'docs/operations.md'), 'utf8');
    commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)]
      .flatMap(([, block]) => block!.split('\n'))
      .filter((line) => line !== '');
    folder = await temporaryFolder('nds-operations-');
    const shim = join(folder.path, 'nest-sharding');
    await writeFile(shim, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
    operator = await Operator.open(connect);
    group = new Group({ connect, label: 'orders', total: 12 });
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
    await folder.remove();
  }, TIMEOUT);

  it(
    'has only commands that work',
    async () => {
      const PATH = [folder.path, process.env['PATH']].join(delimiter);
      const env = { PATH, ZOOKEEPER_CONNECT: connect };
      expect(commands.length).toBeGreaterThan(30);
      for (const command of commands) {
        const here = command
          .replace('zk1:2181,zk2:2181,zk3:2181', connect)
          .replace('--namespace orders', `--namespace ${group.namespace}`);
        const { stdout, stderr } = await run('sh', ['-c', here], { env });
        // Progress of a drain is the one thing that may be said beside the answer.
        expect({ command, stderr: withoutProgress(stderr) }).toEqual({ command, stderr: '' });
        if (command.includes('--json')) expectDocumented(page, command, JSON.parse(stdout));
        const [, check] = EFFECTS.find(([pattern]) => pattern.test(command)) ?? [];
        if (!check) throw new Error(`nobody looks at what ${command} does`);
        const { data } = await operator.get(`/${group.namespace}/config`);
        check(stdout, decodeConfig(data));
      }
    },
    TIMEOUT,
  );

  it('names every verb', () => {
    for (const { usage } of verbs) expect(page).toMatch(new RegExp(`\\b${usage.split(' ')[0]}\\b`));
  });
});
