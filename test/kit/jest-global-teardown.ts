import type {} from './jest-global-setup.js';

/** Ends what the set-up has started. If jest does not get here, the reaper does it. */
export default async function teardown(): Promise<void> {
  await globalThis.sharedZooKeeper?.close();
}
