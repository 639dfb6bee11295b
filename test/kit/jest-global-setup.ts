import { openSharedZooKeeper, type SharedZooKeeper } from './shared-zookeeper.js';

declare global {
  /** From the set-up to the teardown, which jest runs in the same process. */
  var sharedZooKeeper: SharedZooKeeper | undefined;
}

/** Opens the ZooKeeper that all test files share, and says in one line which one it is. */
export default async function setup(): Promise<void> {
  globalThis.sharedZooKeeper = await openSharedZooKeeper();
  process.stdout.write(`${globalThis.sharedZooKeeper.line}\n`);
}
