import { transform } from '@swc/core';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkoutRoot, runnable } from '../kit/checkout.js';
import type { Break, Edit } from './breaks.js';

const WORKER = 'test/simulation/seed-worker.ts';
const home = join(checkoutRoot, '.build', 'mutants');

/** The worker that simulates the sources as they are. */
export const intact = runnable(join(checkoutRoot, WORKER));

/** A break that says nothing of the protocol, because it is written wrong. */
export class BreakError extends Error {}

/** An edit that does not fit the source any more: whoever changed that has to mend the break. */
export class MisfitError extends BreakError {
  constructor({ name }: Break, { file, search }: Edit, count: number) {
    const found = count === 0 ? 'is not there any more' : `is there ${count} times`;
    super(`the break ${name} does not fit ${file}: what it searches for ${found}:\n${search}`);
  }
}

/** An edit that fails for a mistake of its own: nothing is shown by noticing that. */
export class BotchedError extends BreakError {
  constructor(name: string, mistake: string) {
    super(`the break ${name} is itself broken: ${mistake}`);
  }
}

/** The broken text of each file that the break touches. */
export async function applyBreak(broken: Break): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const edit of broken.edits) {
    const { file, search, replacement } = edit;
    const text = texts.get(file) ?? (await readFile(join(checkoutRoot, file), 'utf8'));
    const parts = text.split(search);
    if (parts.length !== 2) throw new MisfitError(broken, edit, parts.length - 1);
    texts.set(file, parts.join(replacement));
  }
  return texts;
}

/**
 * Copies what the simulation consists of, compiled, with the break in it; the sources stay as they are.
 * Resolves to the worker that simulates the copy.
 */
export async function makeMutant(broken: Break): Promise<string> {
  const folder = join(home, broken.name);
  await rm(folder, { recursive: true, force: true });
  for (const room of ['lib', 'test/kit', 'test/simulation']) {
    await cp(join(checkoutRoot, '.build', room), join(folder, room), {
      recursive: true,
      filter: (path) => !/[.](map|spec[.]js)$/.test(path),
    });
  }
  for (const [file, text] of await applyBreak(broken)) {
    const source = join(checkoutRoot, file);
    const { code } = await transform(text, {
      cwd: checkoutRoot,
      root: checkoutRoot,
      filename: source,
      sourceMaps: false,
    });
    const target = join(folder, file.replace(/[.]ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, code);
  }
  return join(folder, WORKER.replace(/[.]ts$/, '.js'));
}
