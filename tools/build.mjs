/**
 * Builds the package: `nest build` of the projects `esm` and `cjs`, then the one line that makes node
 * read dist/cjs as CommonJS inside a package of type `module`. (`nest build --all` would delete it.)
 */
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

await rm(dist, { recursive: true, force: true });
await run('nest', ['build', 'esm', 'cjs']);
await writeFile(`${dist}/cjs/package.json`, '{ "type": "commonjs" }\n');
