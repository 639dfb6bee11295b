import type { Keyspace } from '../coordinator/keyspace.js';
import { childPath, nodeName } from '../registry/node-path.js';
import { ANY_VERSION, type Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { RefusedError } from './admin.errors.js';

/**
 * Deletes what a group left in the store, and nothing of a namespace inside of this one. First go the
 * places where instances register, which the store refuses if somebody came meanwhile.
 */
export async function removeGroup(registry: Registry, keyspace: Keyspace): Promise<void> {
  try {
    for (const path of [keyspace.instances, keyspace.leases, keyspace.latches]) {
      await deleteNode(registry, path);
    }
    for (const path of [keyspace.plan, keyspace.config, keyspace.history]) {
      await deleteTree(registry, path);
    }
    await deleteTree(registry, childPath(keyspace.root, 'leader'));
  } catch (error) {
    if (registryErrorCode(error) !== 'NOT_EMPTY') throw error;
    throw new RefusedError(
      `Somebody came while ${nodeName(keyspace.root)} was being removed; the rest of it was left as it is`,
      { cause: error },
    );
  }
  await deleteNode(registry, keyspace.root).catch((error: unknown) => {
    if (registryErrorCode(error) !== 'NOT_EMPTY') throw error;
  });
}

async function deleteTree(registry: Registry, path: string): Promise<void> {
  const names = (await registry.exists(path)) ? await registry.children(path) : [];
  for (const name of names) await deleteTree(registry, childPath(path, name));
  await deleteNode(registry, path);
}

async function deleteNode(registry: Registry, path: string): Promise<void> {
  try {
    await registry.delete(path, ANY_VERSION);
  } catch (error) {
    if (registryErrorCode(error) !== 'NO_NODE') throw error;
  }
}
