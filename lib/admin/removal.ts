import type { Keyspace } from '../coordinator/keyspace.js';
import { childPath, nodeName, parentPath } from '../registry/node-path.js';
import { ANY_VERSION, type Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { RefusedError } from './admin.errors.js';
import type { GroupSnapshot } from './snapshot.js';

/**
 * Deletes what a group left in the store, and nothing of a namespace inside of this one. First go the
 * places where instances register, which the store refuses if somebody came meanwhile; plan and
 * configuration go only as they were seen, and what stands for election is never touched.
 */
export async function removeGroup(
  registry: Registry,
  keyspace: Keyspace,
  { plan, config }: Pick<GroupSnapshot, 'plan' | 'config'>,
): Promise<void> {
  try {
    for (const path of [keyspace.instances, keyspace.leases, keyspace.latches]) {
      await deleteNode(registry, path);
    }
    await deleteChildren(registry, keyspace.plan);
    await deleteNode(registry, keyspace.plan, versionOf(plan));
    await deleteNode(registry, keyspace.config, versionOf(config));
    await deleteNode(registry, keyspace.history);
    await assertDeserted(registry, keyspace);
    const leader = childPath(keyspace.root, 'leader');
    const sharding = [keyspace.necessary, keyspace.processing, parentPath(keyspace.processing)];
    const election = [keyspace.leader, parentPath(keyspace.latches)];
    for (const path of [...sharding, ...election, leader]) await deleteNode(registry, path);
  } catch (error) {
    const code = registryErrorCode(error);
    if (code !== 'NOT_EMPTY' && code !== 'BAD_VERSION') throw error;
    throw disturbed(keyspace, error);
  }
  await deleteNode(registry, keyspace.root).catch((error: unknown) => {
    if (registryErrorCode(error) !== 'NOT_EMPTY') throw error;
  });
  await assertDeserted(registry, keyspace);
}

async function assertDeserted(registry: Registry, keyspace: Keyspace): Promise<void> {
  await registry.sync(keyspace.root);
  if (await registry.exists(keyspace.instances)) throw disturbed(keyspace);
}

function disturbed({ root }: Keyspace, cause?: unknown): RefusedError {
  return new RefusedError(
    `Somebody came while ${nodeName(root)} was being removed; the rest of it was left as it is`,
    { cause },
  );
}

/** What was not there when it was looked at must not go if it has come since. */
function versionOf(seen: GroupSnapshot['plan'] | GroupSnapshot['config']): number {
  return seen.kind === 'absent' ? NEVER : seen.version;
}

/** No node ever has this version. */
const NEVER = 2 ** 31 - 1;

async function deleteChildren(registry: Registry, path: string): Promise<void> {
  const names = (await registry.exists(path)) ? await registry.children(path) : [];
  for (const name of names) {
    const child = childPath(path, name);
    await deleteChildren(registry, child);
    await deleteNode(registry, child);
  }
}

async function deleteNode(
  registry: Registry,
  path: string,
  version: number = ANY_VERSION,
): Promise<void> {
  try {
    await registry.delete(path, version);
  } catch (error) {
    if (registryErrorCode(error) !== 'NO_NODE') throw error;
  }
}
