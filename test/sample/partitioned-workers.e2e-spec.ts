import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { join } from 'node:path';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import type { NodeProcess } from '../kit/processes.js';
import { temporaryFolder, type TemporaryFolder } from '../kit/reaper.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { endAll, startSample, TAKE_OVER } from './samples.js';

const ORDERS = 160;

describe('sample 02-partitioned-workers', () => {
  const processes: NodeProcess[] = [];
  let folder: TemporaryFolder;
  let file: string;

  beforeEach(async () => {
    folder = await temporaryFolder('nds-orders-');
    file = join(folder.path, 'orders.db');
  });

  afterEach(async () => {
    await endAll(processes);
    await folder.remove();
  });

  async function start(env: Record<string, string>): Promise<NodeProcess> {
    const process = await startSample('02-partitioned-workers', {
      NAMESPACE: 'alone',
      DATABASE: file,
      ORDERS: String(ORDERS),
      ...env,
    });
    processes.push(process);
    return process;
  }

  /** What another reader of the file sees. */
  function inTheFile<T>(query: string): T[] {
    const db = new Database(file, { readonly: true });
    try {
      db.pragma('busy_timeout = 10000');
      return db.prepare(query).raw().all() as T[];
    } finally {
      db.close();
    }
  }

  const wrongAccounts = () =>
    inTheFile(
      `SELECT customer, balance, SUM(amount) AS due FROM accounts JOIN orders USING (customer)
       GROUP BY customer HAVING balance <> due`,
    );
  const booked = () => inTheFile<[number]>('SELECT COUNT(*) FROM orders WHERE booked = 1')[0]![0];

  /** A process that stands still with the lock of the file in its hands stops all others: not our subject. */
  async function freezesBetweenWrites(process: NodeProcess): Promise<boolean> {
    await process.freeze();
    const db = new Database(file);
    try {
      db.pragma('busy_timeout = 2000');
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      return true;
    } catch {
      process.resume();
      return false;
    } finally {
      db.close();
    }
  }

  it('books each order once while processes come and go, and refuses a late writer', async () => {
    const env = {
      ZOOKEEPER_CONNECT: sharedConnect(),
      NAMESPACE: uniqueNamespace('sample-workers'),
      // Slow enough that whoever is stopped is stopped in the middle of an order.
      EFFORT: '400',
    };
    const other = await start(env);
    await eventually(() => expect(booked()).toBeGreaterThan(10), { timeout: 20_000 });
    const paused = await start(env);
    await paused.line(/shard \d+ taken over, [1-9]\d* orders to book/, { timeout: 20_000 });

    // Its orders at hand are not booked, nor given up: it knows of nothing.
    await eventually(() => freezesBetweenWrites(paused), { label: 'a freeze without a lock' });
    await other.line(/all 160 orders booked: \d+ of \d+/, { timeout: TAKE_OVER + 30_000 });
    paused.resume();
    await paused.line(
      /late writer: order \d+ of customer-\d+ \(shard \d+, token \d+\) was refused/,
    );
    await paused.line(/shard \d+ let go/);
    expect([booked(), wrongAccounts()]).toEqual([ORDERS, []]);

    // One end of the work after the other, the database open until then.
    expect(await other.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(other.errors).toEqual([]);
    expect(await paused.end('SIGTERM')).toEqual({ code: 0, signal: null });
  }, 90_000);

  it('runs on its own without ZooKeeper, and says so', async () => {
    const process = await start({ EFFORT: '1' });
    await process.line(/memory registry, this process is on its own/);
    await process.line(/all 160 orders booked: (\d+) of \1$/);
    expect(wrongAccounts()).toEqual([]);
    expect(await process.end('SIGINT')).toEqual({ code: 0, signal: null });
  });
});
