import { registryErrorCode } from '../registry/registry.errors.js';

/** What the command ends with; documented, so never to be renumbered. */
export const EXIT = {
  done: 0,
  /** Refused or failed; of `doctor`: problems were found. */
  failed: 1,
  usage: 2,
  unreachable: 3,
  noSuchGroup: 4,
  noRights: 5,
  conflict: 6,
  /** By Ctrl-C, with something left to wait for. */
  interrupted: 130,
} as const;

/** The command was not called as it should be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const BY_CODE: Readonly<Record<string, number>> = {
  NO_SUCH_GROUP: EXIT.noSuchGroup,
  CONFLICT: EXIT.conflict,
  NO_AUTH: EXIT.noRights,
  UNREACHABLE: EXIT.unreachable,
  CONNECTION_LOST: EXIT.unreachable,
  SESSION_LOST: EXIT.unreachable,
  TIMED_OUT: EXIT.unreachable,
  INVALID: EXIT.usage,
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  const code = (error as { code?: unknown } | null)?.code;
  return (typeof code === 'string' ? BY_CODE[code] : undefined) ?? EXIT.failed;
}

/** One line for people, whatever it was; a stack would tell them nothing. */
export function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = message.replace(/\s*\n\s*/g, ' ').trim();
  if (registryErrorCode(error) !== 'NO_AUTH') return line;
  return `No rights: ${line.replace('the credentials in registry.auth do', 'the credentials given, if any, do')}`;
}
