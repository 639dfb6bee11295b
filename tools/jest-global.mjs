/**
 * Jest loads its global hooks outside of its own module mapping, where `./x.js` does not find `./x.ts`.
 * So they run compiled; and `.build` is then ready for the child processes of tests as well.
 * Both hooks live in one process and share their modules' state.
 */
import { compile } from './compile.mjs';

const hook = async (name) => (await import(`../.build/test/kit/${name}.js`)).default;

export async function setup(...args) {
  await compile();
  await (
    await hook('jest-global-setup')
  )(...args);
}

export async function teardown(...args) {
  await (
    await hook('jest-global-teardown')
  )(...args);
}
