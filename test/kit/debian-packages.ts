import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './reaper.js';

const run = promisify(execFile);

/**
 * Downloads and unpacks packages of Debian without touching the system, as any user.
 *
 * All happens in a folder of this process, which a rename turns into the cache: nobody ever sees half
 * of it, and of two processes at the same time one wins and the other takes what is there.
 */
export async function fetchDebianPackages(
  packages: readonly string[],
  cache: string,
  isComplete: () => boolean,
): Promise<void> {
  await mkdir(dirname(cache), { recursive: true });
  const work = await temporaryFolder(`${basename(cache)}-`, dirname(cache));
  try {
    const downloads = join(work.path, 'downloads');
    const unpacked = join(work.path, 'unpacked');
    await mkdir(downloads);
    await mkdir(unpacked);
    // The lists of the system may be missing (a fresh image), or older than the mirror.
    await download(packages, downloads, []).catch(async () => {
      const privately = ['-c', await privateAptConfiguration(work.path)];
      await run('apt-get', [...privately, 'update']);
      await download(packages, downloads, privately);
    });
    for (const name of await readdir(downloads)) {
      await run('dpkg-deb', ['-x', join(downloads, name), unpacked]);
    }
    await rename(unpacked, cache).catch((error: unknown) => {
      if (!isComplete()) throw error;
    });
  } finally {
    await work.remove();
  }
}

async function download(
  packages: readonly string[],
  folder: string,
  options: readonly string[],
): Promise<void> {
  // Root downloads as root: the user `_apt` may have no access to the checkout.
  const asSelf = ['-o', 'APT::Sandbox::User='];
  await run('apt-get', [...options, ...asSelf, 'download', ...packages], { cwd: folder });
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
