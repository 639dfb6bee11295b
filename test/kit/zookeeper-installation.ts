import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { checkoutRoot } from './checkout.js';
import { temporaryFolder } from './reaper.js';

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
  await run(java, ['-version']).catch((error: Error) => {
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
    await fetchFromDebian();
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

/**
 * Downloads and unpacks Debian's packages without touching the system, as any user.
 *
 * All happens in a folder of this process, which a rename turns into the cache: nobody ever sees half
 * of it, and of two processes at the same time one wins and the other takes what is there.
 */
async function fetchFromDebian(): Promise<void> {
  await mkdir(join(CACHE, '..'), { recursive: true });
  const work = await temporaryFolder('zookeeper-', join(CACHE, '..'));
  try {
    const downloads = join(work.path, 'downloads');
    const unpacked = join(work.path, 'unpacked');
    await mkdir(downloads);
    await mkdir(unpacked);
    // The lists of the system may be missing (a fresh image), or older than the mirror.
    await download(downloads, []).catch(async () => {
      const privately = ['-c', await privateAptConfiguration(work.path)];
      await run('apt-get', [...privately, 'update']);
      await download(downloads, privately);
    });
    for (const name of await readdir(downloads)) {
      await run('dpkg-deb', ['-x', join(downloads, name), unpacked]);
    }
    await rename(unpacked, CACHE).catch((error: unknown) => {
      if (fromCache() === undefined) throw error;
    });
  } finally {
    await work.remove();
  }
}

async function download(folder: string, options: readonly string[]): Promise<void> {
  // Root downloads as root: the user `_apt` may have no access to the checkout.
  const asSelf = ['-o', 'APT::Sandbox::User='];
  await run('apt-get', [...options, ...asSelf, 'download', ...PACKAGES], { cwd: folder });
}

/** Lets `apt-get update` keep its lists in our folder, and silences the hooks meant for the system's lists. */
async function privateAptConfiguration(folder: string): Promise<string> {
  const lists = join(folder, 'lists');
  const cache = join(folder, 'archives');
  await mkdir(join(lists, 'partial'), { recursive: true });
  await mkdir(join(cache, 'archives', 'partial'), { recursive: true });
  const file = join(folder, 'apt.conf');
  await writeFile(
    file,
    `Dir::State "${folder}";
Dir::State::lists "${lists}";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "${cache}";
APT::Sandbox::User "";
Acquire::Languages "none";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`,
  );
  return file;
}
