/**
 * After an install in a checkout: is the native ZooKeeper client there? It is an optional dependency, so
 * npm keeps silent when it could not be built. The usual reason is that node-gyp wants to fetch node's
 * headers; where they came with node itself, they are used instead. Never fails an install: whatever
 * needs the client says so by itself.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const IS_SECOND_TRY = 'SHARDING_PREPARE_AGAIN';

if (!isClientLoadable()) {
  const prefix = dirname(dirname(process.execPath));
  const hasHeaders = existsSync(join(prefix, 'include', 'node', 'node.h'));
  if (hasHeaders && process.env[IS_SECOND_TRY] === undefined) buildAgainst(prefix);
  if (process.env[IS_SECOND_TRY] === undefined && !isClientLoadable()) {
    console.warn(
      'The native ZooKeeper client (package "zookeeper") was not built: everything on the memory ' +
        'registry works, tests do not. It takes make, a C++ compiler, Python and the headers of node; ' +
        '`npm_config_foreground_scripts=true npm ci` shows what failed.',
    );
  }
}

/** Tried in a process of its own: this one would remember that the package was absent. */
function isClientLoadable() {
  const { status } = spawnSync(process.execPath, ['-e', "require('zookeeper')"], { cwd: root });
  return status === 0;
}

function buildAgainst(prefix) {
  console.warn(`Building the native ZooKeeper client with the headers in ${prefix}/include/node`);
  const env = { ...process.env, npm_config_nodedir: prefix, [IS_SECOND_TRY]: '1' };
  spawnSync('npm', ['install', '--no-save', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    env,
  });
}
