import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import Database from 'libsql';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whoever writes with a token: a shard that was handed to its worker. */
export interface Holder {
  readonly item: number;
  readonly token: bigint;
}

export interface Order {
  readonly id: number;
  readonly customer: string;
  readonly amount: number;
}

/** A later holder has claimed the account: what this one wants to write is out of date. */
export class LateWriterError extends Error {
  constructor({ item, token }: Holder, { id, customer }: Order) {
    super(`late writer: order ${id} of ${customer} (shard ${item}, token ${token}) was refused`);
  }
}

/** Another process is writing to the file, or stands still while it does. */
export function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith('SQLITE_BUSY') ?? false;
}

/**
 * Orders to be booked to accounts, in an SQLite file that all processes share. Prepared in
 * `onModuleInit` and closed in `onApplicationShutdown`: workers run from after the one to before the other.
 */
@Injectable()
export class Ledger implements OnModuleInit, OnApplicationShutdown {
  private readonly file =
    process.env['DATABASE'] || join(tmpdir(), 'nestjs-dynamic-sharding-orders.db');
  private db!: InstanceType<typeof Database>;

  onModuleInit(): void {
    this.db = new Database(this.file);
    new Logger('Ledger').log(`the orders are in ${this.file}`);
    this.db.pragma('busy_timeout = 10000');
    this.db.pragma('journal_mode = WAL');
    this.db.pragma('synchronous = NORMAL');
    this.db.exec(`
      CREATE TABLE IF NOT EXISTS accounts (
        customer TEXT PRIMARY KEY,
        shard INTEGER NOT NULL,
        balance INTEGER NOT NULL DEFAULT 0,
        token INTEGER NOT NULL DEFAULT 0
      );
      CREATE TABLE IF NOT EXISTS orders (
        id INTEGER PRIMARY KEY,
        customer TEXT NOT NULL REFERENCES accounts,
        amount INTEGER NOT NULL,
        booked INTEGER NOT NULL DEFAULT 0
      );
      CREATE INDEX IF NOT EXISTS open_orders ON orders (customer) WHERE booked = 0;
      CREATE INDEX IF NOT EXISTS accounts_of_shard ON accounts (shard);
    `);
    // From here on shards are held, and waiting for a lock stops the whole process, its lease renewals
    // too: better give up soon and try again.
    this.db.pragma('busy_timeout = 200');
  }

  onApplicationShutdown(): void {
    this.db.close();
  }

  /** Places orders if there are none. All or nothing: a leader that dies here leaves an empty table. */
  seed(orders: number, shardOf: (customer: string) => number): void {
    const account = this.db.prepare(
      'INSERT OR IGNORE INTO accounts (customer, shard) VALUES (?, ?)',
    );
    const order = this.db.prepare('INSERT INTO orders (customer, amount) VALUES (?, ?)');
    this.db
      .transaction(() => {
        if (this.progress().orders > 0) return;
        for (let n = 0; n < orders; n += 1) {
          const customer = `customer-${n % 40}`;
          account.run(customer, shardOf(customer));
          order.run(customer, (n % 9) + 1);
        }
      })
      .immediate();
  }

  /**
   * Puts the holder's token on every account of its shard. From here on no earlier holder can write to
   * them, so that what is read next stays true. Not one token for the whole table: shards that did not
   * move keep their older tokens. Gives the number of open orders.
   */
  claim({ item, token }: Holder): number {
    return this.db
      .transaction(() => {
        this.db
          .prepare('UPDATE accounts SET token = ? WHERE shard = ? AND token < ?')
          .run(token, item, token);
        const { open } = this.db
          .prepare(
            `SELECT COUNT(*) AS open FROM orders JOIN accounts USING (customer)
             WHERE booked = 0 AND shard = ?`,
          )
          .get(item) as { open: number };
        return open;
      })
      .immediate();
  }

  nextOrder({ item }: Holder): Order | undefined {
    return this.db
      .prepare(
        `SELECT id, customer, amount FROM orders JOIN accounts USING (customer)
         WHERE booked = 0 AND shard = ? ORDER BY id LIMIT 1`,
      )
      .get(item) as Order | undefined;
  }

  /** Books an order, unless a later holder has claimed the account. */
  book(holder: Holder, order: Order): void {
    this.db
      .transaction(() => {
        const { changes } = this.db
          .prepare('UPDATE accounts SET balance = balance + ? WHERE customer = ? AND token <= ?')
          .run(order.amount, order.customer, holder.token);
        if (changes === 0) throw new LateWriterError(holder, order);
        this.db.prepare('UPDATE orders SET booked = 1 WHERE id = ?').run(order.id);
      })
      .immediate();
  }

  progress(): { orders: number; booked: number; ordered: number; balance: number } {
    return this.db
      .prepare(
        `SELECT COUNT(*) AS orders, TOTAL(booked) AS booked, TOTAL(amount) AS ordered,
           (SELECT TOTAL(balance) FROM accounts) AS balance
         FROM orders`,
      )
      .get() as ReturnType<Ledger['progress']>;
  }
}
