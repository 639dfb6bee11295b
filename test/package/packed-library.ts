import { execFile } from 'node:child_process';
import { access, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { checkoutRoot } from '../kit/checkout.js';

const run = promisify(execFile);

// The flags that jest runs under are not those of a user's process.
const env = { ...process.env, NODE_OPTIONS: '' };

export const peers = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

/** Packs the library as it would be published, and says where the file is. */
export async function packLibrary(folder: string): Promise<string> {
  await access(join(checkoutRoot, 'dist/esm/index.js')).catch(() => {
    throw new Error('dist is missing: run `npm run build` first (`npm test` does)');
  });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: checkoutRoot, env });
  return join(folder, packedFile(JSON.parse(stdout)));
}

/** npm up to 11 prints a list of packed files, later ones an object by package name. */
function packedFile(report: unknown): string {
  const [packed] = Object.values(report as Record<string, { filename: string }>);
  if (!packed) throw new Error(`npm pack reported no file: ${JSON.stringify(report)}`);
  return packed.filename;
}

/**
 * Makes a project with the library truly installed; the packages beside it are links to this checkout's,
 * since to download Nest would only test the network. `legacy-peer-deps` keeps npm from fetching them all
 * the same.
 */
export async function installLibrary(
  app: string,
  tarball: string,
  flags: readonly string[],
  links: readonly string[] = peers,
): Promise<void> {
  await mkdir(app, { recursive: true });
  const manifest = { name: 'app', private: true, type: 'module' };
  await writeFile(join(app, 'package.json'), JSON.stringify(manifest));
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  const args = ['install', tarball, '--legacy-peer-deps', ...quiet, ...flags];
  await run('npm', args, { cwd: app, env });
  for (const name of links) {
    const link = join(app, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(checkoutRoot, 'node_modules', name), link);
  }
}

/** Runs a node script in the project and gives what it prints. */
export async function node(app: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd: app, env });
  return stdout.trim();
}
