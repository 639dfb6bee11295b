import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { checkoutRoot } from './checkout.js';
import { fetchDebianPackages } from './debian-packages.js';

const run = promisify(execFile);

/** What it takes to run private servers. */
export interface ZooKeeperInstallation {
  readonly java: string;
  readonly version: string;
  readonly classPath: string;
  /** Where the class path comes from, in words. */
  readonly source: string;
}

const CACHE = join(checkoutRoot, '.cache', 'zookeeper');
const SYSTEM_JARS = '/usr/share/java';
const PACKAGES = [
  'libzookeeper-java',
  'libslf4j-java',
  'libdropwizard-metrics-java',
  'libsnappy-java',
];
// slf4j-simple writes to the log of the server, which says why one did not start.
const JARS = [
  'zookeeper',
  'zookeeper-jute',
  'slf4j-api',
  'slf4j-simple',
  'metrics-core',
  'snappy-java',
];

/** The ensemble which tests shall use as it is, if there is one. */
export function givenEnsemble(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env['ZOOKEEPER_CONNECT'] || undefined;
}

/**
 * Finds the jars for private servers, or fetches them.
 *
 * Tests that kill and freeze servers need private ones even if `ZOOKEEPER_CONNECT` names an ensemble:
 * nobody wants those tests on an ensemble of his.
 */
export async function locateZooKeeper(
  env: NodeJS.ProcessEnv = process.env,
): Promise<ZooKeeperInstallation> {
  const java = await findJava(env);
  const jars = fromHome(env) ?? fromSystem() ?? fromCache() ?? (await fetched());
  return { java, ...jars };
}

export function describe({ version, source }: ZooKeeperInstallation): string {
  return `ZooKeeper: ${version} from ${source}`;
}

type Jars = Pick<ZooKeeperInstallation, 'version' | 'classPath' | 'source'>;

async function findJava(env: NodeJS.ProcessEnv): Promise<string> {
  const home = env['JAVA_HOME'];
  const java = home ? join(home, 'bin', 'java') : 'java';
  await run(java, ['-XX:-UsePerfData', '-version']).catch((error: Error) => {
    throw new Error(
      `ZooKeeper's private servers need Java, but \`${java} -version\` failed: install a Java ` +
        `runtime (8 or later), or set JAVA_HOME to one. ${error.message}`,
    );
  });
  return java;
}

/** Who sets ZOOKEEPER_HOME wants that one: a wrong path is an error, not a reason to look elsewhere. */
function fromHome(env: NodeJS.ProcessEnv): Jars | undefined {
  const home = env['ZOOKEEPER_HOME'];
  if (!home) return undefined;
  const jars = [
    ...jarsIn(home).filter((jar) => /\/zookeeper[^/]*$/.test(jar)),
    ...jarsIn(join(home, 'lib')),
  ];
  const version = versionAmong(jars);
  if (version === undefined) {
    throw new Error(
      `ZOOKEEPER_HOME=${home} holds no zookeeper-VERSION.jar, nor does its lib folder.`,
    );
  }
  return { version, classPath: jars.join(delimiter), source: `ZOOKEEPER_HOME=${home}` };
}

function fromSystem(): Jars | undefined {
  return debianJars(SYSTEM_JARS, `Debian's packages installed in ${SYSTEM_JARS}`);
}

function fromCache(folder = CACHE): Jars | undefined {
  const name = relative(checkoutRoot, CACHE);
  return debianJars(join(folder, SYSTEM_JARS), `Debian's packages in ${name}`);
}

function debianJars(folder: string, source: string): Jars | undefined {
  const jars = JARS.map((name) => join(folder, `${name}.jar`));
  const version = versionAmong(jarsIn(folder));
  if (version === undefined || !jars.every((jar) => existsSync(jar))) return undefined;
  return { version, classPath: jars.join(delimiter), source };
}

function jarsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jar'))
    .sort()
    .map((name) => join(folder, name));
}

function versionAmong(jars: readonly string[]): string | undefined {
  return jars.map((jar) => /\/zookeeper-(\d[^/]*)\.jar$/.exec(jar)?.[1]).find(Boolean);
}

async function fetched(): Promise<Jars> {
  try {
    await fetchDebianPackages(PACKAGES, CACHE, () => fromCache() !== undefined);
    const jars = fromCache();
    if (jars === undefined) throw new Error(`Debian's packages lack one of: ${JARS.join(', ')}`);
    return jars;
  } catch (error) {
    throw new Error(nowhere(error as Error), { cause: error });
  }
}

function nowhere(error: Error): string {
  return [
    'No ZooKeeper to test with. Any of these ways provides one:',
    '  - ZOOKEEPER_CONNECT=host:port names an ensemble to use as it is (tests that kill servers need one of the others, too);',
    '  - ZOOKEEPER_HOME=folder names an unpacked release of Apache ZooKeeper;',
    `  - Debian's packages: apt-get install ${PACKAGES.join(' ')};`,
    `  - the same packages unpacked (dpkg-deb -x) into ${CACHE};`,
    '  - nothing at all, where apt-get can download them, which failed here:',
    `    ${error.message.trim().replaceAll('\n', '\n    ')}`,
  ].join('\n');
}
