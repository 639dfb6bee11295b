/** What all instances of a group share, kept in `/config`. */
export interface GroupConfig {
  readonly total: number | 'instances';
  readonly strategy: string;
}

/** The most items a group can have: what a plan of bounded size can name. */
export const MAX_TOTAL = 1_000_000;

export class UnreadableConfigError extends Error {
  override readonly name = 'UnreadableConfigError';
}

/** JSON with two spaces, since people look at it with ZooKeeper's own shell. */
export function encodeConfig(config: GroupConfig): Buffer {
  return Buffer.from(JSON.stringify({ version: 1, ...config }, null, 2));
}

export function decodeConfig(data: Buffer): GroupConfig {
  let raw: Record<string, unknown>;
  try {
    raw = JSON.parse(data.toString()) as Record<string, unknown>;
  } catch {
    throw new UnreadableConfigError('it is not JSON');
  }
  if (raw?.['version'] !== 1) {
    throw new UnreadableConfigError(`version is ${JSON.stringify(raw?.['version'])}, expected 1`);
  }
  const { total, strategy } = raw;
  if (!isTotal(total)) {
    throw new UnreadableConfigError(
      `total is ${JSON.stringify(total)}, expected a whole number from 1 to ${MAX_TOTAL} or "instances"`,
    );
  }
  if (typeof strategy !== 'string' || strategy === '') {
    throw new UnreadableConfigError(`strategy is ${JSON.stringify(strategy)}, expected a name`);
  }
  return { total, strategy };
}

export function isTotal(value: unknown): value is number | 'instances' {
  if (value === 'instances') return true;
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_TOTAL;
}
