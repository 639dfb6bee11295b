import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The kit runs from its sources (jest) and from `.build/` (plain node), so the root is searched for. */
function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('The test kit runs outside of its checkout.');
  return findRoot(parent);
}

export const checkoutRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

/** What plain node can run: for a TypeScript source, the file `tools/compile.mjs` makes of it. */
export function runnable(script: string | URL): string {
  const path = typeof script === 'string' ? script : fileURLToPath(script);
  if (!path.endsWith('.ts')) return path;
  // Compiled code finds its neighbours where it is itself.
  const source = relative(checkoutRoot, path).replace(/^\.build\//, '');
  return join(checkoutRoot, '.build', source.replace(/\.ts$/, '.js'));
}
