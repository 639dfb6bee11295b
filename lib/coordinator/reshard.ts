import { ANY_VERSION, type Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';

/** Asks the leader for a reshard; resolves when the request is stored. */
export async function requestReshard(registry: Registry, path: string): Promise<void> {
  const request = Buffer.alloc(0);
  for (;;) {
    try {
      await registry.create(path, request, { parents: true });
      return;
    } catch (error) {
      if (registryErrorCode(error) !== 'NODE_EXISTS') throw error;
    }
    try {
      // Changing it makes the leader's deletion of the old request fail, so that ours is seen.
      await registry.set(path, request, ANY_VERSION);
      return;
    } catch (error) {
      // Deleted meanwhile, it need not have been a request: the leader shows one to tools as well.
      if (registryErrorCode(error) !== 'NO_NODE') throw error;
    }
  }
}
