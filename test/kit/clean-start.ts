import { existsSync } from 'node:fs';

const SHELL = '/bin/bash';
const SCRIPT =
  'for fd in /dev/fd/*; do fd=${fd##*/}; ((fd > 2)) && eval "exec $fd>&-"; done; exec "$@"';

/**
 * The command that starts another one with nothing of this process but stdin, stdout and stderr.
 *
 * The sockets of the native ZooKeeper client are not close-on-exec. A child that inherits one keeps it
 * alive in our event loop after the client has closed it: the loop spins, and the next socket with the
 * same number gets its events. Without the shell, children inherit; nothing else changes.
 */
export function cleanStart(command: string, args: readonly string[]): [string, string[]] {
  return existsSync(SHELL)
    ? [SHELL, ['--norc', '-c', SCRIPT, command, command, ...args]]
    : [command, [...args]];
}
