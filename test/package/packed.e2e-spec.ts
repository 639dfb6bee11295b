import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url));
const name = 'nestjs-dynamic-sharding';
const peers = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

// The flags that jest runs under are not those of a user's process.
const env = { ...process.env, NODE_OPTIONS: '' };

/** What a user gets: the packed file, installed where nothing of this checkout is in reach. */
describe('the packed library', () => {
  let folder: string;
  let tarball: string;

  beforeAll(async () => {
    await access(join(checkout, 'dist/esm/index.js')).catch(() => {
      throw new Error('dist is missing: run `npm run build` first (`npm test` does)');
    });
    folder = await realpath(await mkdtemp(join(tmpdir(), `${name}-`)));
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run('npm', args, { cwd: checkout, env });
    tarball = join(folder, packedFile(JSON.parse(stdout)));
  }, 60_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe.each([
    { title: 'with install scripts off', flags: ['--ignore-scripts'], hasClient: true },
    { title: 'without the optional client', flags: ['--omit=optional'], hasClient: false },
  ])('$title', ({ title, flags, hasClient }) => {
    let app: string;

    beforeAll(async () => {
      app = join(folder, title.replaceAll(' ', '-'));
      await install(app, tarball, flags);
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
      expect(await node(app, 'by-import.mjs', source)).toBe('function');
    });

    it('loads by require', async () => {
      const source = `console.log(typeof require('${name}').MemoryCluster);`;
      expect(await node(app, 'by-require.cjs', source)).toBe('function');
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
      expect(JSON.parse(await node(app, 'both.mjs', source))).toEqual(same);
    });

    it('also loads the CommonJS copy, for tools that know no module-sync', async () => {
      const source = `
        const { dirname, join } = require('node:path');
        const root = dirname(require.resolve('${name}/package.json'));
        console.log(typeof require(join(root, 'dist/cjs/index.js')).MemoryCluster);
      `;
      expect(await node(app, 'cjs-copy.cjs', source)).toBe('function');
    });
  });
});

/** npm up to 11 prints a list of packed files, later ones an object by package name. */
function packedFile(report: unknown): string {
  const [packed] = Object.values(report as Record<string, { filename: string }>);
  if (!packed) throw new Error(`npm pack reported no file: ${JSON.stringify(report)}`);
  return packed.filename;
}

/**
 * The library itself is truly installed; its peers are links to this checkout's, since to download
 * Nest would only test the network. `legacy-peer-deps` keeps npm from fetching them all the same.
 */
async function install(app: string, tarball: string, flags: string[]): Promise<void> {
  await mkdir(app, { recursive: true });
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true }));
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  const args = ['install', tarball, '--legacy-peer-deps', ...quiet, ...flags];
  await run('npm', args, { cwd: app, env });
  for (const peer of peers) {
    const link = join(app, 'node_modules', peer);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(checkout, 'node_modules', peer), link);
  }
}

async function node(app: string, file: string, source: string): Promise<string> {
  await writeFile(join(app, file), source);
  const { stdout } = await run(process.execPath, [file], { cwd: app, env });
  return stdout.trim();
}
