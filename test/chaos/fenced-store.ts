import Database from 'libsql';

export interface StoreWrite {
  readonly who: string;
  readonly item: number;
  readonly token: bigint;
  /** Asked for while the file is locked, so that times have the order in which writes took effect. */
  readonly time: () => number;
}

/** A write as the store has kept it. */
export interface KeptWrite {
  readonly who: string;
  readonly item: number;
  readonly token: bigint;
  readonly time: number;
  readonly accepted: boolean;
}

type Row = readonly [bigint, string, bigint, bigint, bigint, bigint];

/** More than this is read another time, so that reading never holds up whoever reads for long. */
const BATCH = 100_000n;

/**
 * An SQLite file which all processes of a group write to. It accepts a write only with a token that is
 * not lower than any it has seen for the item, and keeps what it did, in order, to be judged by others.
 */
export class FencedStore {
  #read = 0n;

  private constructor(private readonly db: InstanceType<typeof Database>) {}

  static open(file: string): FencedStore {
    const db = new Database(file);
    db.pragma('busy_timeout = 10000');
    db.pragma('journal_mode = WAL');
    // Killed processes lose nothing by it, only machines do.
    db.pragma('synchronous = OFF');
    db.exec(`
      CREATE TABLE IF NOT EXISTS fences (item INTEGER PRIMARY KEY, token INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS writes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        who TEXT NOT NULL,
        item INTEGER NOT NULL,
        token INTEGER NOT NULL,
        micros INTEGER NOT NULL,
        accepted INTEGER NOT NULL
      );
    `);
    // From here on nobody waits: a process that is stopped with the lock in its hands must not stop
    // the event loops of the others, which renew their leases there.
    db.pragma('busy_timeout = 0');
    return new FencedStore(db);
  }

  /** Undefined if somebody else was writing: then nothing was written. */
  write({ who, item, token, time }: StoreWrite): boolean | undefined {
    try {
      return this.db
        .transaction(() => {
          const { changes } = this.db
            .prepare(
              `INSERT INTO fences (item, token) VALUES (?, ?)
               ON CONFLICT (item) DO UPDATE SET token = excluded.token
               WHERE excluded.token >= fences.token`,
            )
            .run(item, token);
          const accepted = changes > 0;
          this.db
            .prepare(
              'INSERT INTO writes (who, item, token, micros, accepted) VALUES (?, ?, ?, ?, ?)',
            )
            .run(who, item, token, Math.round(time() * 1_000), accepted ? 1 : 0);
          return accepted;
        })
        .immediate();
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  /** What was written since this was called last, in the order in which it took effect. */
  readNew(): KeptWrite[] {
    const rows = this.db
      .prepare(
        `SELECT id, who, item, token, micros, accepted FROM writes
         WHERE id > ? ORDER BY id LIMIT ?`,
      )
      .safeIntegers(true)
      .raw()
      .all(this.#read, BATCH) as Row[];
    this.#read = rows.at(-1)?.[0] ?? this.#read;
    this.#forget();
    return rows.map(([, who, item, token, micros, accepted]) => ({
      who,
      item: Number(item),
      token,
      time: Number(micros) / 1_000,
      accepted: accepted === 1n,
    }));
  }

  close(): void {
    this.db.close();
  }

  /** Keeps the file small; where somebody is writing, another time will do. */
  #forget(): void {
    try {
      this.db.prepare('DELETE FROM writes WHERE id <= ?').run(this.#read);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith('SQLITE_BUSY') ?? false;
}
