/** One change of who holds what, from its cause until everything had settled. @publicApi */
export interface HistoryEntry {
  /** When it had settled, by the leader's clock, in milliseconds since 1970. */
  readonly at: number;
  /** The epoch of the plan that ended it. */
  readonly epoch: number;
  /** The id of who led at its end. */
  readonly leader: string;
  readonly why: HistoryCauses;
  readonly total: number;
  /** How many instances took part afterwards. */
  readonly instances: number;
  /** How many items have another holder, or one where they had none. */
  readonly moved: number;
  /** Milliseconds, as the leader saw them; what came before its term is not in them. */
  readonly took: {
    readonly all: number;
    /** While the leases of the dead were waited out. */
    readonly waiting: number;
    /** While members let go of what was asked back. */
    readonly draining: number;
  };
}

/** What changed between two settled plans. Lists of ids are cut at `MOST_NAMED`. @publicApi */
export interface HistoryCauses {
  readonly joined: readonly string[];
  /** In good order. */
  readonly left: readonly string[];
  readonly crashed: readonly string[];
  /** The total before, where it changed. */
  readonly previousTotal?: number;
  /** The keys of the configuration that changed. */
  readonly configured: readonly string[];
  /** Somebody asked for it. */
  readonly asked: boolean;
  /** Somebody else led when it began, so that not all causes are known. */
  readonly inherited: boolean;
}

export const MOST_NAMED = 20;
/** How many entries are kept. */
export const MOST_ENTRIES = 50;

/** The entries, oldest first; none if the document cannot be read, since nothing depends on it. */
export function decodeHistory(data: Buffer): HistoryEntry[] {
  try {
    const entries = JSON.parse(data.toString()) as unknown;
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

/** A line for each entry, so that it can be read with ZooKeeper's own shell. */
export function encodeHistory(entries: readonly HistoryEntry[]): Buffer {
  const lines = entries.slice(-MOST_ENTRIES).map((entry) => JSON.stringify(entry));
  return Buffer.from(`[\n${lines.join(',\n')}\n]`);
}

function isEntry(value: unknown): value is HistoryEntry {
  const { at, epoch, leader, why, moved, took } = (value ?? {}) as Partial<HistoryEntry>;
  return (
    [at, epoch, moved].every((number) => Number.isFinite(number)) &&
    typeof leader === 'string' &&
    Array.isArray(why?.joined) &&
    Number.isFinite(took?.all)
  );
}
