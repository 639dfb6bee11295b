import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { access, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot } from '../kit/checkout.js';
import { installLibrary, node, packLibrary } from './packed-library.js';

const name = 'nestjs-dynamic-sharding';

/** What a user gets: the packed file, installed where nothing of this checkout is in reach. */
describe('the packed library', () => {
  let folder: string;
  let tarball: string;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), `${name}-`)));
    tarball = await packLibrary(folder);
  }, 60_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe.each([
    { title: 'with install scripts off', flags: ['--ignore-scripts'], hasClient: true },
    { title: 'without the optional client', flags: ['--omit=optional'], hasClient: false },
  ])('$title', ({ title, flags, hasClient }) => {
    let app: string;

    beforeAll(async () => {
      app = join(folder, title.replaceAll(' ', '-'));
      await installLibrary(app, tarball, flags);
    }, 120_000);

    it('has the client only if it was asked for', async () => {
      const client = access(join(app, 'node_modules/zookeeper')).then(
        () => true,
        () => false,
      );
      expect(await client).toBe(hasClient);
    });

    it('loads by import', async () => {
      const source = `import { MemoryCluster } from '${name}'; console.log(typeof MemoryCluster);`;
      expect(await script(app, 'by-import.mjs', source)).toBe('function');
    });

    it('loads by require', async () => {
      const source = `console.log(typeof require('${name}').MemoryCluster);`;
      expect(await script(app, 'by-require.cjs', source)).toBe('function');
    });

    it('gives the same objects to import and require', async () => {
      const source = `
        import { createRequire } from 'node:module';
        import * as imported from '${name}';
        const required = createRequire(import.meta.url)('${name}');
        const names = Object.keys(imported);
        const different = names.filter((name) => imported[name] !== required[name]);
        console.log(JSON.stringify({ some: names.length > 0, different }));
      `;
      const same = { some: true, different: [] };
      expect(JSON.parse(await script(app, 'both.mjs', source))).toEqual(same);
    });

    it('brings the command along', async () => {
      const version = JSON.parse(await readFile(join(checkoutRoot, 'package.json'), 'utf8')) as {
        version: string;
      };
      expect(await node(app, ['node_modules/.bin/nest-sharding', '--version'])).toBe(
        version.version,
      );
      expect((await stat(join(app, 'node_modules/.bin/nest-sharding'))).mode & 0o111).toBe(0o111);
    });

    it('also loads the CommonJS copy, for tools that know no module-sync', async () => {
      const source = `
        const { dirname, join } = require('node:path');
        const root = dirname(require.resolve('${name}/package.json'));
        console.log(typeof require(join(root, 'dist/cjs/index.js')).MemoryCluster);
      `;
      expect(await script(app, 'cjs-copy.cjs', source)).toBe('function');
    });
  });
});

async function script(app: string, file: string, source: string): Promise<string> {
  await writeFile(join(app, file), source);
  return node(app, [file]);
}
