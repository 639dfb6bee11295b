import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../kit/eventually.js';
import { freePort, freePorts, LOOPBACK } from '../kit/free-port.js';
import { uniqueNamespace } from '../kit/namespace.js';
import type { NodeProcess } from '../kit/processes.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { endAll, startSample, TAKE_OVER } from './samples.js';

/** Several processes have to start, one after the other. */
const START = { timeout: 30_000 };
const KEYS = Array.from({ length: 40 }, (_, index) => `customer-${index}`);

interface Reply {
  readonly status: number;
  readonly body: {
    readonly key: string;
    readonly shard: number;
    readonly token: string;
    readonly answeredBy: string;
    /** Of whoever refuses. */
    readonly owner?: { readonly address: string } | null;
  };
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** A process of the sample, and where it answers. */
interface Served {
  readonly process: NodeProcess;
  readonly address: string;
}

const addressOf = (port: number): string => `http://${LOOPBACK}:${port}`;

async function ask(address: string, key: string): Promise<Reply> {
  const sentAt = performance.now();
  const response = await fetch(`${address}/keys/${key}`, { headers: { connection: 'close' } });
  const body = (await response.json()) as Reply['body'];
  return { status: response.status, body, sentAt, receivedAt: performance.now() };
}

const askAll = (address: string) => Promise.all(KEYS.map((key) => ask(address, key)));
const statuses = (replies: readonly Reply[]) => [...new Set(replies.map(({ status }) => status))];
const answerers = (replies: readonly Reply[]) =>
  [...new Set(replies.map(({ body }) => body.answeredBy))].toSorted();

/** Asks for one key after the other, several at a time; `stop` gives all replies. */
function keepAsking(address: string): { stop(): Promise<readonly Reply[]> } {
  const replies: Reply[] = [];
  const end = new AbortController();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (!end.signal.aborted) replies.push(await ask(address, KEYS[next++ % KEYS.length]!));
  };
  const lanes = Promise.all(Array.from({ length: 4 }, lane));
  // Whoever stops them hears of it.
  lanes.catch(() => {});
  return {
    stop: async () => {
      end.abort();
      await lanes;
      return replies;
    },
  };
}

/**
 * Answers that the holder of the shard at that time cannot have given: two instances with the same token,
 * or one that was asked when a later holder had answered already.
 */
function fromNonOwners(replies: readonly Reply[]): readonly Reply[] {
  const answers = replies.filter(({ status }) => status === 200);
  const asReceived = answers.toSorted((a, b) => a.receivedAt - b.receivedAt);
  const holders = new Map<string, string>();
  const latest = new Map<number, bigint>();
  let heard = 0;
  return answers
    .toSorted((a, b) => a.sentAt - b.sentAt)
    .filter(({ sentAt, body: { shard, token, answeredBy } }) => {
      for (; asReceived[heard]!.receivedAt < sentAt; heard += 1) {
        const { body } = asReceived[heard]!;
        const former = latest.get(body.shard) ?? 0n;
        latest.set(body.shard, former > BigInt(body.token) ? former : BigInt(body.token));
      }
      const holding = `${shard} ${token}`;
      const holder = holders.get(holding) ?? answeredBy;
      holders.set(holding, holder);
      return holder !== answeredBy || BigInt(token) < (latest.get(shard) ?? 0n);
    });
}

describe('sample 05-routing', () => {
  const processes: NodeProcess[] = [];
  let env: Record<string, string>;
  afterEach(() => endAll(processes));

  async function start(settings: Record<string, string>): Promise<NodeProcess> {
    const process = await startSample('05-routing', { NAMESPACE: 'alone', ...settings });
    processes.push(process);
    return process;
  }

  async function startFront(): Promise<Served> {
    const port = await freePort();
    const process = await start({ ...env, ROLE: 'front', FRONT_PORT: String(port) });
    await process.line(/FrontModule listens/, START);
    return { process, address: addressOf(port) };
  }

  async function startWorkers(count: number): Promise<readonly Served[]> {
    const ports = await freePorts(count);
    return Promise.all(
      ports.map(async (port) => {
        const process = await start({ ...env, ROLE: 'worker', WORKER_PORT: String(port) });
        return { process, address: addressOf(port) };
      }),
    );
  }

  /** Waits until each key is answered, by all of these workers together and nobody else. */
  function answeredBy(front: Served, workers: readonly Served[]): Promise<readonly Reply[]> {
    const addresses = workers.map(({ address }) => address).toSorted();
    return eventually(
      async () => {
        const replies = await askAll(front.address);
        expect(statuses(replies)).toEqual([200]);
        expect(answerers(replies)).toEqual(addresses);
        return replies;
      },
      { timeout: TAKE_OVER + START.timeout },
    );
  }

  it('sends each request to the owner of its key, while workers come and go', async () => {
    env = {
      ZOOKEEPER_CONNECT: sharedConnect(),
      NAMESPACE: uniqueNamespace('sample-routing'),
      // No request may fail, so a busy machine must not cost anybody its lease.
      SESSION_TIMEOUT: '4000',
    };
    const front = await startFront();
    // Nobody has made a plan yet.
    expect((await ask(front.address, 'early')).status).toBe(503);
    const first = await startWorkers(2);
    await answeredBy(front, first);

    // One joins and one leaves in good order: no request fails, and owners alone answer.
    const requests = keepAsking(front.address);
    const workers = [...first, ...(await startWorkers(1))];
    const replies = await answeredBy(front, workers);
    const [leaver, ...stayers] = workers;
    expect(await leaver!.process.end('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    await answeredBy(front, stayers);
    const flow = await requests.stop();
    expect(statuses(flow)).toEqual([200]);
    expect(answerers(flow)).toEqual(answerers(replies));
    expect(fromNonOwners(flow)).toEqual([]);

    // Whoever is asked for what it does not own refuses, and knows who does.
    const [victim, last] = stayers;
    const settled = await answeredBy(front, stayers);
    const { key } = settled.find(({ body }) => body.answeredBy === last!.address)!.body;
    const refusal = await ask(victim!.address, key);
    expect([refusal.status, refusal.body.owner?.address]).toEqual([409, last!.address]);

    // One is killed: when its session and its lease are over, the last one answers for all.
    await victim!.process.end('SIGKILL');
    const taken = await answeredBy(front, [last!]);
    expect(fromNonOwners([...flow, ...settled, ...taken])).toEqual([]);

    // Without any worker there is no owner.
    await last!.process.end('SIGTERM');
    expect((await ask(front.address, key)).status).toBe(503);
    expect(await front.process.end('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
  }, 180_000);

  it('runs on its own without ZooKeeper, and says so', async () => {
    const [front, worker] = await freePorts(2);
    const process = await start({ FRONT_PORT: String(front), WORKER_PORT: String(worker) });
    await process.line(/FrontModule listens/, START);
    await process.line(/memory registry, this process is on its own/);
    await eventually(async () => {
      const replies = await askAll(addressOf(front!));
      expect(statuses(replies)).toEqual([200]);
      expect(answerers(replies)).toEqual([addressOf(worker!)]);
    }, START);
    await process.end('SIGTERM');
    expect(process.errors).toEqual([]);
  }, 90_000);
});
