import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { cleanStart } from './clean-start.js';
import { eventually } from './eventually.js';
import { reaper } from './reaper.js';

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process that can be frozen and ended, and that never outlives this process. */
export class GuardedProcess {
  readonly pid: number;
  readonly exited: Promise<ExitStatus>;
  private status: ExitStatus | undefined;

  protected constructor(protected readonly child: ChildProcess) {
    // Without a pid the spawn failed; `started` gives the reason.
    this.pid = child.pid ?? -1;
    const release = child.pid === undefined ? () => {} : reaper.guard(['process', child.pid]);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.status = { code, signal };
        release();
        resolve(this.status);
      });
    });
    // A test that forgets a child must not keep jest from ending: the reaper ends the child then.
    child.unref();
  }

  static async spawn(
    command: string,
    args: readonly string[],
    options: SpawnOptions = {},
  ): Promise<GuardedProcess> {
    const child = spawn(...cleanStart(command, args), { ...options, detached: true });
    const guarded = new GuardedProcess(child);
    await started(child);
    return guarded;
  }

  get running(): boolean {
    return this.status === undefined;
  }

  /** Stops the process where it stands (SIGSTOP); done when all its threads have stopped. */
  async freeze(): Promise<void> {
    this.child.kill('SIGSTOP');
    if (process.platform !== 'linux') return;
    await eventually(() => allThreadsStopped(this.pid), {
      label: `process ${this.pid} frozen`,
      interval: 2,
    });
  }

  /** Lets a frozen process go on (SIGCONT). */
  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Sends a signal that ends the process, frozen or not, and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<ExitStatus> {
    this.child.ref();
    if (this.running) {
      this.child.kill(signal);
      this.child.kill('SIGCONT');
    }
    return this.exited;
  }
}

/** Resolves when the system has started the child, rejects with its reason when it could not. */
export function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

async function allThreadsStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const states = await Promise.all(threads.map((thread) => stateOf(pid, thread)));
  return states.every((state) => state === 'T' || state === undefined);
}

/** The state letter after the command's name, or undefined for a thread that has just ended. */
async function stateOf(pid: number, thread: string): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => undefined);
  return stat?.replace(/^.*\) /s, '')[0];
}
