import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const PATH = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);

/** Runs a tool of this package at its root, shows its output and gives its exit code. */
export function attempt(tool, args) {
  const child = spawn(tool, args, { cwd: root, stdio: 'inherit', env: { ...process.env, PATH } });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** The same for a step that the rest cannot do without. */
export async function run(tool, args) {
  const code = await attempt(tool, args);
  if (code !== 0) throw new Error(`${tool} ${args.join(' ')} failed with exit code ${code}`);
}
