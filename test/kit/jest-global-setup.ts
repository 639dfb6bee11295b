import { loadClientFactory } from '../../lib/registry/zookeeper/zookeeper-client.js';
import { openSharedZooKeeper, type SharedZooKeeper } from './shared-zookeeper.js';

declare global {
  /** From the set-up to the teardown, which jest runs in the same process. */
  var sharedZooKeeper: SharedZooKeeper | undefined;
}

/** Opens the ZooKeeper that all test files share, and says in one line which one it is. */
export default async function setup(): Promise<void> {
  // Told once and plainly, instead of by every test that cannot work without it.
  await loadClientFactory();
  globalThis.sharedZooKeeper = await openSharedZooKeeper();
  process.stdout.write(`${globalThis.sharedZooKeeper.line}\n`);
}
