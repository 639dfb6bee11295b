import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { verbs } from '../../lib/cli/verbs.js';
import { Group, TIMEOUT } from '../e2e/group.js';
import { checkoutRoot } from '../kit/checkout.js';
import { temporaryFolder, type TemporaryFolder } from '../kit/reaper.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { MAIN } from './command.js';

const run = promisify(execFile);

/** Every command on the page, in its order, against a real group with the names that it uses. */
describe('the page on operations', () => {
  const connect = sharedConnect();
  let folder: TemporaryFolder;
  let group: Group;
  let commands: string[];

  beforeAll(async () => {
    const page = await readFile(join(checkoutRoot, 'docs/operations.md'), 'utf8');
    commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)]
      .flatMap(([, block]) => block!.split('\n'))
      .filter((line) => line !== '');
    folder = await temporaryFolder('nds-operations-');
    const shim = join(folder.path, 'nest-sharding');
    await writeFile(shim, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
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
        const { stderr } = await run('sh', ['-c', here], { env });
        // Progress of a drain is the one thing that may be said beside the answer.
        expect(stderr.replace(/^\d+ items? left.*\n/gm, '')).toBe('');
      }
    },
    TIMEOUT,
  );

  it('names every verb and every reason', async () => {
    const page = await readFile(join(checkoutRoot, 'docs/operations.md'), 'utf8');
    for (const { usage } of verbs) expect(page).toMatch(new RegExp(`\\b${usage.split(' ')[0]}\\b`));
  });
});
