import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkoutRoot } from '../kit/checkout.js';
import type { ZooKeeperServer, ZooKeeperServerOptions } from '../kit/zookeeper-server.js';

const run = promisify(execFile);

/** Makes the disk of the servers slow or full, without root. */
export class SlowDisk {
  private constructor(
    private readonly library: string,
    private readonly control: string,
  ) {}

  /** Undefined where there is no compiler, or no Linux. */
  static async make(folder: string): Promise<SlowDisk | undefined> {
    if (process.platform !== 'linux') return undefined;
    const library = join(folder, 'slow-disk.so');
    const source = join(checkoutRoot, 'test/chaos/slow-disk.c');
    try {
      await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
    } catch {
      return undefined;
    }
    return new SlowDisk(library, join(folder, 'slow-disk'));
  }

  /** For the servers, which sync only if told to. */
  get options(): ZooKeeperServerOptions {
    return {
      javaArguments: ['-Dzookeeper.forceSync=yes'],
      env: { LD_PRELOAD: this.library, SLOW_DISK_FILE: this.control },
    };
  }

  /** From now on each sync of this server takes that long, until its next start. */
  async slow({ pid }: ZooKeeperServer, milliseconds: number): Promise<void> {
    await writeFile(`${this.control}.${pid}`, String(milliseconds));
  }

  async fast({ pid }: ZooKeeperServer): Promise<void> {
    await rm(`${this.control}.${pid}`, { force: true });
  }
}

/** No further write of this server to a file succeeds, as if the disk were full; until its next start. */
export async function fillDisk({ pid }: ZooKeeperServer): Promise<void> {
  if (pid !== undefined) await run('prlimit', ['--pid', String(pid), '--fsize=1:']);
}
