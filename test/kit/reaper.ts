import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot } from './checkout.js';
import { cleanStart } from './clean-start.js';

type Ward = readonly ['process', number] | readonly ['folder', string];

/**
 * Keeps a guardian process informed of what must not outlive this one. `afterAll` is for the tests that
 * end; this is for those that do not: a failed set-up, Ctrl-C, a worker killed for its memory.
 */
class Reaper {
  private readonly wards = new Set<Ward>();
  private guardian: ChildProcess | undefined;

  /** @returns what to call when the ward has gone by itself */
  guard(ward: Ward): () => void {
    this.wards.add(ward);
    if (this.guardian === undefined) this.appoint();
    else this.tell('+', ward);
    return () => {
      if (!this.wards.delete(ward)) return;
      this.tell('-', ward);
      // No guardian idles beside a worker whose tests own nothing any more.
      if (this.wards.size === 0) this.dismiss();
    };
  }

  private appoint(): void {
    const script = join(checkoutRoot, 'test/kit/guardian.mjs');
    // Only a worker of jest is of no use without its parent.
    const isWorker = process.argv[1]?.includes('jest-worker') === true;
    const args = isWorker ? [script, String(process.ppid)] : [script];
    const guardian = spawn(...cleanStart(process.execPath, args), {
      stdio: ['pipe', 'ignore', 'inherit'],
      // In a session of its own, so that Ctrl-C at the terminal does not reach it.
      detached: true,
      env: {},
    });
    this.guardian = guardian;
    // A guardian that was killed is replaced at the next occasion.
    guardian.stdin?.on('error', () => {
      if (this.guardian === guardian) this.guardian = undefined;
    });
    guardian.unref();
    (guardian.stdin as Socket).unref();
    for (const ward of this.wards) this.tell('+', ward);
  }

  private dismiss(): void {
    this.guardian?.stdin?.end();
    this.guardian = undefined;
  }

  private tell(sign: '+' | '-', [kind, value]: Ward): void {
    this.guardian?.stdin?.write(`${JSON.stringify([sign + kind, value])}\n`);
  }
}

/** One in each process that uses the kit (in each test file, under jest). */
export const reaper = new Reaper();

export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A new folder, in the system's temporary folder unless told otherwise, which does not outlive this process. */
export async function temporaryFolder(prefix: string, parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, prefix));
  const release = reaper.guard(['folder', path]);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 10 });
      release();
    },
  };
}
