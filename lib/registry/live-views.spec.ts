import { describe, expect, it } from '@jest/globals';
import { Recording } from '../../test/conformance/recording.js';
import { deferred, type Deferred } from '../../test/kit/eventually.js';
import { LiveViews, type WatchedReads } from './live-views.js';
import type { NodeSnapshot, NodeStat } from './registry.js';
import {
  ConnectionLostError,
  NoAuthError,
  NoNodeError,
  type RegistryError,
  RegistryClosedError,
  SessionLostError,
} from './registry.errors.js';

const PATH = '/a';
const SUBJECT = { operation: 'get', path: PATH };

function stat(version: number, createdId = 1): NodeStat {
  return {
    createdId: BigInt(createdId),
    modifiedId: BigInt(createdId + version),
    version,
    owner: undefined,
    childCount: 0,
    childChanges: 0,
  };
}

function node(version: number, createdId = 1): NodeSnapshot {
  return { data: Buffer.from(`${createdId}.${version}`), stat: stat(version, createdId) };
}

/** Reads that are answered by hand, in the order in which they were asked. */
class ManualReads implements WatchedReads {
  readonly calls: string[] = [];
  readonly #answers: Deferred<unknown>[] = [];

  get = (path: string): Promise<NodeSnapshot> => this.#call('get', path);
  children = (path: string): Promise<readonly string[]> => this.#call('children', path);
  exists = (path: string): Promise<NodeStat | undefined> => this.#call('exists', path);
  sync = (path: string): Promise<void> => this.#call('sync', path);

  async answer(value?: unknown): Promise<void> {
    this.#next().resolve(value);
    await settled();
  }

  async fail(error: RegistryError): Promise<void> {
    this.#next().reject(error);
    await settled();
  }

  get pending(): number {
    return this.#answers.length;
  }

  #next(): Deferred<unknown> {
    const answer = this.#answers.shift();
    if (!answer) throw new Error('nothing was asked');
    return answer;
  }

  #call<T>(kind: string, path: string): Promise<T> {
    this.calls.push(`${kind} ${path}`);
    const answer = deferred<unknown>();
    this.#answers.push(answer);
    return answer.promise as Promise<T>;
  }
}

/** Every promise that can go on has done so. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function open() {
  const reads = new ManualReads();
  const views = new LiveViews(reads);
  const versions = ({ values }: Recording<NodeSnapshot | undefined>): (number | undefined)[] =>
    values.map((value) => value?.stat.version);
  return { reads, views, versions };
}

describe('a live view', () => {
  it('reads when it is first looked at, and not before', async () => {
    const { reads, views, versions } = open();
    const source = views.node(PATH);
    expect([reads.calls, views.size]).toEqual([[], 0]);
    const view = new Recording(source);
    expect([reads.calls, views.size]).toEqual([['get /a'], 1]);
    await reads.answer(node(0));
    expect(versions(view)).toEqual([0]);
  });

  it('reads again after an event, once for any number of them', async () => {
    const { reads, views, versions } = open();
    const view = new Recording(views.node(PATH));
    await reads.answer(node(0));
    views.notify(PATH, 'changed');
    views.notify(PATH, 'changed');
    views.notify(PATH, 'changed');
    expect(reads.pending).toBe(1);
    // The answer may be older than the later events, so there is one more read.
    await reads.answer(node(1));
    expect(reads.pending).toBe(1);
    await reads.answer(node(3));
    expect([versions(view), reads.pending]).toEqual([[0, 1, 3], 0]);
  });

  it.each([
    ['created', ['get /a', 'children /a']],
    // One look is enough for what is gone, and it leaves the watch for its return.
    ['deleted', ['exists /a', 'exists /a']],
    ['changed', ['get /a']],
    ['children', ['children /a']],
  ] as const)('told "%s" makes the views read that relied on it', async (event, calls) => {
    const { reads, views } = open();
    void new Recording(views.node(PATH));
    void new Recording(views.children(PATH));
    await reads.answer(node(0));
    await reads.answer([]);
    reads.calls.length = 0;
    views.notify(PATH, event);
    views.notify('/other', event);
    expect(reads.calls).toEqual(calls);
  });

  it('is undefined where there is no node, with a watch for its coming', async () => {
    const { reads, views, versions } = open();
    const view = new Recording(views.node(PATH));
    await reads.fail(new NoNodeError(SUBJECT));
    await reads.answer(undefined);
    expect(reads.calls).toEqual(['get /a', 'exists /a']);
    expect(view.values).toStrictEqual([undefined]);
    views.notify(PATH, 'created');
    await reads.answer(node(0));
    expect(versions(view)).toStrictEqual([undefined, 0]);
  });

  it('reads again when the node came between the read and the watch', async () => {
    const { reads, views, versions } = open();
    const view = new Recording(views.node(PATH));
    await reads.fail(new NoNodeError(SUBJECT));
    await reads.answer(stat(0));
    await reads.answer(node(0));
    expect(reads.calls).toEqual(['get /a', 'exists /a', 'get /a']);
    expect(versions(view)).toEqual([0]);
  });

  it('tells a deletion at once, and the successor that it then finds', async () => {
    const { reads, views, versions } = open();
    const seen = new Recording(views.node(PATH));
    await reads.answer(node(3));
    views.notify(PATH, 'deleted');
    expect(versions(seen)).toEqual([3, undefined]);
    await reads.answer(stat(0, 2));
    await reads.answer(node(0, 2));
    expect(versions(seen)).toEqual([3, undefined, 0]);
  });

  it('lets a read under way speak first: what it brings may be older than the deletion', async () => {
    const { reads, views, versions } = open();
    const seen = new Recording(views.node(PATH));
    views.notify(PATH, 'deleted');
    expect(versions(seen)).toEqual([]);
    await reads.answer(node(3));
    await reads.answer(undefined);
    expect(versions(seen)).toEqual([3, undefined]);
  });

  it('tells a node from its successor, and nothing twice', async () => {
    const { reads, views } = open();
    const view = new Recording(views.node(PATH));
    const list = new Recording(views.children(PATH));
    await reads.answer(node(0, 1));
    await reads.answer(['a']);
    for (const [value, names] of [
      [node(0, 1), ['a']],
      [node(0, 2), ['b']],
      [node(0, 2), ['b']],
    ] as const) {
      views.reconnected(false);
      await reads.answer(value);
      await reads.answer(names);
    }
    expect(view.values.map((value) => value?.stat.createdId)).toEqual([1n, 2n]);
    expect(list.values).toEqual([['a'], ['b']]);
  });

  it('is shared: a late subscriber gets what is known, without a read', async () => {
    const { reads, views, versions } = open();
    const first = new Recording(views.node(PATH));
    const early = new Recording(views.node(PATH));
    await reads.answer(node(0));
    const late = new Recording(views.node(PATH));
    expect([first, early, late].map(versions)).toEqual([[0], [0], [0]]);
    expect([reads.calls, views.size]).toEqual([['get /a'], 1]);
    first.stop();
    early.stop();
    expect(views.size).toBe(1);
    late.stop();
    expect(views.size).toBe(0);
  });

  it('does nothing more when nobody looks, not even for a read under way', async () => {
    const { reads, views, versions } = open();
    const first = new Recording(views.node(PATH));
    await reads.answer(node(0));
    views.notify(PATH, 'changed');
    views.notify(PATH, 'changed');
    first.stop();
    const again = new Recording(views.node(PATH));
    // The read for the one who left, then that of the one who came.
    await reads.answer(node(1));
    expect([versions(first), versions(again), reads.pending]).toEqual([[0], [], 1]);
    await reads.answer(node(2));
    views.notify(PATH, 'changed');
    again.stop();
    await reads.answer(node(3));
    views.notify(PATH, 'changed');
    views.reconnected(true);
    expect([versions(again), reads.pending]).toEqual([[2], 0]);
  });

  it('lets a subscriber leave and another come in the middle of the news', async () => {
    const { reads, views, versions } = open();
    const joined: Recording<NodeSnapshot | undefined>[] = [];
    const source = views.node(PATH);
    source.subscribe(() => {
      if (joined.length === 0) joined.push(new Recording(source));
      leaving.stop();
    });
    const leaving = new Recording(source);
    await reads.answer(node(0));
    expect([versions(leaving), ...joined.map(versions)]).toEqual([[], [0]]);
  });

  it('outlives the connection and the session', async () => {
    const { reads, views, versions } = open();
    const view = new Recording(views.node(PATH));
    await reads.fail(new ConnectionLostError(SUBJECT));
    expect([view.error, reads.pending]).toEqual([undefined, 0]);
    views.reconnected(false);
    await reads.answer(undefined);
    await reads.fail(new SessionLostError(SUBJECT));
    expect([view.error, reads.pending]).toEqual([undefined, 0]);
    views.reconnected(true);
    await reads.answer(undefined);
    await reads.answer(node(0));
    expect(versions(view)).toEqual([0]);
  });

  it('reads again when it was reconnected while a read was under way', async () => {
    const { reads, views, versions } = open();
    const view = new Recording(views.node(PATH));
    views.reconnected(false);
    await reads.answer(node(0));
    await reads.answer(node(1));
    expect(versions(view)).toEqual([0, 1]);
  });

  it('begins a new session with a sync, and tries again until there was one', async () => {
    const { reads, views, versions } = open();
    const view = new Recording(views.node(PATH));
    await reads.answer(node(5));
    reads.calls.length = 0;
    views.reconnected(true);
    await reads.fail(new ConnectionLostError(SUBJECT));
    expect(reads.calls).toEqual(['sync /a']);
    views.reconnected(false);
    await reads.answer(undefined);
    await reads.answer(node(6));
    views.notify(PATH, 'changed');
    await reads.answer(node(7));
    expect(reads.calls).toEqual(['sync /a', 'sync /a', 'get /a', 'get /a']);
    expect(versions(view)).toEqual([5, 6, 7]);
  });

  it('does not slip an unsynced read into a new session', async () => {
    const { reads, views } = open();
    void new Recording(views.node(PATH));
    await reads.answer(node(5));
    views.notify(PATH, 'changed');
    views.notify(PATH, 'changed');
    reads.calls.length = 0;
    // The connection and the session are lost in one go: the read that follows waits for the next session.
    await reads.fail(new ConnectionLostError(SUBJECT));
    expect(reads.calls).toEqual(['sync /a']);
  });

  it('ends with an error where access is denied, and can be tried again', async () => {
    const { reads, views, versions } = open();
    const denied = [new Recording(views.node(PATH)), new Recording(views.node(PATH))];
    await reads.fail(new NoAuthError(SUBJECT));
    expect(denied.map(({ error }) => (error as RegistryError).code)).toEqual([
      'NO_AUTH',
      'NO_AUTH',
    ]);
    expect(views.size).toBe(0);
    const again = new Recording(views.node(PATH));
    await reads.answer(node(0));
    expect(versions(again)).toEqual([0]);
  });

  it('completes, with or without a read under way, and cannot be looked at any more', async () => {
    const { reads, views } = open();
    const idle = new Recording(views.node(PATH));
    await reads.answer(node(0));
    const busy = new Recording(views.children(PATH));
    views.complete();
    await reads.fail(new RegistryClosedError(SUBJECT));
    const late = new Recording(views.node(PATH));
    for (const view of [idle, busy, late]) {
      expect([view.completed, view.error]).toEqual([true, undefined]);
    }
    expect([views.size, reads.pending]).toEqual([0, 0]);
  });
});
