/**
 * Compiles every source to `.build/` with the same tree, so that benchmarks, soak scripts and child
 * processes of tests run on plain node. No type-check (that is `npm run check`), and only files that
 * changed since they were last written, so it is cheap enough to call before each use.
 */
import { transformFile } from '@swc/core';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, '.build');
const rooms = ['lib', 'test', 'bench', 'sample', 'demo'];
// Whatever decides how a file is compiled also decides whether it is out of date.
const recipe = ['.swcrc', 'tools/compile.mjs', 'package.json'].map((file) => join(root, file));

const isSource = (name) => /(?<!\.d)\.ts$/.test(name);
const outputOf = (source) => join(out, relative(root, source).replace(/\.ts$/, '.js'));
const mtime = (file) =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

async function files(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes(`${sep}node_modules${sep}`));
}

// Test workers compile at the same time, and none may import what another has half written.
async function replace(file, text) {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, file);
}

async function write(source, target) {
  const { code, map } = await transformFile(source, { cwd: root, root, outputPath: target });
  await mkdir(dirname(target), { recursive: true });
  await replace(`${target}.map`, map);
  await replace(target, `${code}\n//# sourceMappingURL=${basename(target)}.map\n`);
}

/** @returns how many files were compiled and how many were up to date */
export async function compile() {
  const [recipeTime, ...trees] = await Promise.all([
    Promise.all(recipe.map(mtime)).then((times) => Math.max(...times)),
    ...rooms.map((room) => files(join(root, room))),
  ]);
  const sources = trees.flat().filter(isSource);
  let compiled = 0;
  await Promise.all(
    sources.map(async (source) => {
      const target = outputOf(source);
      const [written, changed] = await Promise.all([mtime(target), mtime(source)]);
      if (written > Math.max(changed, recipeTime)) return;
      await write(source, target);
      compiled += 1;
    }),
  );
  // A removed source must not live on as something that can still be imported.
  const expected = new Set(sources.map(outputOf));
  const outputs = await Promise.all(rooms.map((room) => files(join(out, room))));
  const stale = outputs
    .flat()
    .filter((file) => /\.js(\.map)?$/.test(file) && !expected.has(file.replace(/\.map$/, '')));
  await Promise.all(stale.map((file) => rm(file, { force: true })));
  return { compiled, current: sources.length - compiled };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { compiled, current } = await compile();
  console.log(`.build: ${compiled} compiled, ${current} up to date`);
}
