import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '../kit/checkout.js';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import type { NodeProcess } from '../kit/processes.js';
import { temporaryFolder, type TemporaryFolder } from '../kit/reaper.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { installLibrary, node, packLibrary, peers } from '../package/packed-library.js';
import { endAll, heldBy, startApp, TAKE_OVER } from './samples.js';

// The native client is linked too: to compile it again would only test the compiler.
const LINKS = [...peers, 'zookeeper', 'typescript', '@types/node'];

/** What a newcomer does: the sample's folder in an empty project, beside the published package. */
describe('sample 01-basic in a project of its own', () => {
  const processes: NodeProcess[] = [];
  let folder: TemporaryFolder;
  let app: string;

  beforeAll(async () => {
    folder = await temporaryFolder('nds-newcomer-');
    app = join(await realpath(folder.path), 'app');
    const tarball = await packLibrary(folder.path);
    await installLibrary(app, tarball, ['--omit=optional'], LINKS);
    await cp(join(checkoutRoot, 'sample/01-basic'), app, { recursive: true });
    await node(app, ['node_modules/typescript/bin/tsc', '--outDir', 'dist']);
  }, 120_000);

  afterAll(async () => {
    await endAll(processes);
    await folder.remove();
  });

  it('shares the items between three processes, and two take over from a killed one', async () => {
    const env = { ZOOKEEPER_CONNECT: sharedConnect(), NAMESPACE: uniqueNamespace('copied-out') };
    const main = join(app, 'dist/main.js');
    for (let n = 0; n < 3; n += 1) processes.push(await startApp(main, env, app));
    const sizes = () => processes.map((process) => heldBy(process).length);
    await eventually(() => expect(sizes()).toEqual([4, 4, 4]), { timeout: 20_000 });

    await processes.shift()!.end('SIGKILL');
    await eventually(() => expect(sizes()).toEqual([6, 6]), { timeout: TAKE_OVER });
    expect(new Set(processes.flatMap(heldBy)).size).toBe(12);
  }, 60_000);
});
