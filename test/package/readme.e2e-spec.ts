import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '../kit/checkout.js';
import { spawnNode } from '../kit/processes.js';
import { temporaryFolder, type TemporaryFolder } from '../kit/reaper.js';
import { installLibrary, node, packLibrary, peers } from './packed-library.js';

const LINKS = [...peers, 'typescript', '@types/node'];

/** The README's code blocks that begin with the name of a file, in a project with the packed library. */
describe('the examples in the README', () => {
  let folder: TemporaryFolder;
  let app: string;

  beforeAll(async () => {
    folder = await temporaryFolder('nds-readme-');
    app = join(await realpath(folder.path), 'app');
    const tarball = await packLibrary(folder.path);
    await installLibrary(app, tarball, ['--omit=optional'], LINKS);
    await mkdir(join(app, 'src'));
    const readme = await readFile(join(checkoutRoot, 'README.md'), 'utf8');
    for (const [source, file] of readme.matchAll(/(?<=^```ts\n)\/\/ (\S+\.ts)\n.*?(?=^```$)/gms)) {
      await writeFile(join(app, 'src', file!), source);
    }
    // Any Nest application has such a configuration.
    await cp(join(checkoutRoot, 'sample/01-basic/tsconfig.json'), join(app, 'tsconfig.json'));
    await node(app, ['node_modules/typescript/bin/tsc', '--outDir', 'dist']);
  }, 120_000);

  afterAll(() => folder.remove());

  it('start and stop as they say', async () => {
    const env = { ZOOKEEPER_CONNECT: undefined, NO_COLOR: '1' };
    const example = await spawnNode(join(app, 'dist/main.js'), [], { env, cwd: app });
    await example.line(/\[Letters\] leading$/);
    await example.line(/\[Letters\] holding 12 of 12: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11$/);
    for (const customer of ['ann', 'bob', 'kim']) {
      await example.line(new RegExp(`a letter to ${customer}, of shard \\d+$`));
    }
    expect(await example.end('SIGINT')).toEqual({ code: 0, signal: null });
    await example.line(/holding 0 of 12: $/);
    expect(example.errors).toEqual([]);
  });

  it('pass as tests', async () => {
    expect(await node(app, ['--test', 'dist/group.test.js'])).toMatch(/^# pass 1$/m);
  });
});
