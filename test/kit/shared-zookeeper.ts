import { describe, givenEnsemble, locateZooKeeper } from './zookeeper-installation.js';
import { ZooKeeperServer } from './zookeeper-server.js';

/** How the address travels from jest's global set-up to its workers. */
const VARIABLE = 'NDS_TEST_ZOOKEEPER';

/** The connect string of the one ZooKeeper all test files share: for tests that do it no harm. */
export function sharedConnect(env: NodeJS.ProcessEnv = process.env): string {
  const address = givenEnsemble(env) ?? env[VARIABLE];
  if (!address) {
    throw new Error(
      'No shared ZooKeeper: run under jest with its global set-up, or set ZOOKEEPER_CONNECT.',
    );
  }
  return address;
}

export interface SharedZooKeeper {
  /** Says in one line which ZooKeeper it is. */
  readonly line: string;
  close(): Promise<void>;
}

/** Decides once for all workers which ZooKeeper is used, fetching it if need be. */
export async function openSharedZooKeeper(
  env: NodeJS.ProcessEnv = process.env,
): Promise<SharedZooKeeper> {
  const given = givenEnsemble(env);
  if (given !== undefined) return { line: await describeGiven(given, env), close: async () => {} };
  const installation = await locateZooKeeper(env);
  const server = await ZooKeeperServer.start({ installation });
  env[VARIABLE] = server.connect;
  return {
    line: describe(installation),
    async close() {
      delete env[VARIABLE];
      await server.close();
    },
  };
}

/** Most tests run on a given ensemble without any private server, so the lack of one is only mentioned. */
async function describeGiven(connect: string, env: NodeJS.ProcessEnv): Promise<string> {
  const own = await locateZooKeeper(env).then(
    ({ version, source }) => `private servers: ${version} from ${source}`,
    (error: Error) => `no private servers: ${error.message.split('\n')[0]}`,
  );
  return `ZooKeeper: ${connect} from ZOOKEEPER_CONNECT; ${own}`;
}
