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
  UNCERTAIN: EXIT.unreachable,
  INVALID: EXIT.usage,
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  const code = (error as { code?: unknown } | null)?.code;
  return (typeof code === 'string' ? BY_CODE[code] : undefined) ?? EXIT.failed;
}

/** The library speaks of an application's options, which the command has under other names. */
const AS_HERE: readonly (readonly [RegExp, string])[] = [
  [/; check registry\.connect and .*$/, ''],
  [/registry\.connect\b/g, '--connect'],
  [/registry\.auth\.credentials/g, 'the credentials'],
  [/the credentials in registry\.auth do not open/g, 'the credentials given, if any, do not open'],
];

/** One line for people, whatever it was; a stack would tell them nothing. */
export function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = message.replace(/\s*\n\s*/g, ' ').trim();
  return AS_HERE.reduce((text, [theirs, ours]) => text.replace(theirs, ours), line);
}
