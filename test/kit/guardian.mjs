/**
 * Outlives its parent by a moment to clean up after it: told on stdin which processes and folders the
 * parent owns, it ends and removes them when the pipe closes, which it does however the parent ends,
 * SIGKILL included. Plain JavaScript, for it must start at once and without any build.
 */
import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const GRACE = 5_000;
const processes = new Map();
const folders = new Set();

// Whoever signals the whole group means the parent; this process ends when the parent has.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

/** Tells a process from a later one with the same id; undefined once it is gone (or a zombie). */
function birth(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return process.platform === 'linux' ? undefined : alive(pid);
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch {
    return undefined;
  }
}

function kill(pid) {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // Gone already, or not the leader of a group.
    }
  }
}

const verbs = {
  '+process': (pid) => processes.set(Number(pid), birth(pid)),
  '-process': (pid) => processes.delete(Number(pid)),
  '+folder': (path) => folders.add(path),
  '-folder': (path) => folders.delete(path),
};

// A worker goes on with its test file, and starts further servers, when jest itself was killed.
const owner = process.ppid;
const employer = process.argv[2];
if (employer !== undefined) {
  const born = birth(employer);
  const endOrphan = () =>
    birth(employer) !== born && process.ppid === owner && process.kill(owner, 'SIGKILL');
  setInterval(endOrphan, 250).unref();
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, value] = JSON.parse(line);
  verbs[verb](value);
}

const living = () =>
  [...processes]
    .filter(([pid, born]) => born !== undefined && birth(pid) === born)
    .map(([pid]) => pid);

living().forEach(kill);
const deadline = Date.now() + GRACE;
while (living().length > 0 && Date.now() < deadline) await sleep(20);
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
