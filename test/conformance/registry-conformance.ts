import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Observable } from 'rxjs';
import { systemEnvironment } from '../../lib/registry/environment.js';
import { MAX_DATA_BYTES } from '../../lib/registry/limits.js';
import {
  ANY_VERSION,
  type NodeSnapshot,
  type OperationOptions,
  type Registry,
} from '../../lib/registry/registry.js';
import { sequenceOf, SureWrites } from '../../lib/registry/sure-writes.js';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import type { Client, ClientOptions, RegistryHarness } from './harness.js';
import type { Adapter } from './harnesses.js';
import { failure, failureCode, outcome, Recording } from './recording.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const textOf = (snapshot: NodeSnapshot | undefined): string | undefined =>
  snapshot?.data.toString();

/** What every registry has to do, whatever store it stands on. */
export function describeRegistry({ name, servers, createHarness }: Adapter): void {
  describe(`registry on ${name}`, () => {
    let harness: RegistryHarness;
    /** The node below which a case has all of its nodes. */
    let root: string;
    /** A client that no case disturbs: it looks, and it writes what others are to see. */
    let witness: Registry;
    let recordings: Recording<unknown>[];

    beforeAll(async () => {
      harness = await createHarness();
    }, 120_000);

    afterAll(async () => {
      await harness?.close();
    }, 60_000);

    beforeEach(async () => {
      recordings = [];
      root = `/${uniqueNamespace('conformance')}`;
      witness = await harness.witness();
      await witness.create(root, Buffer.alloc(0));
    });

    afterEach(async () => {
      for (const recording of recordings) recording.stop();
      await harness.release();
    }, 60_000);

    async function open(options?: ClientOptions): Promise<Client> {
      const client = await harness.client(options);
      await client.registry.connect({ timeout: 20_000 });
      return client;
    }

    function record<T>(source: Observable<T>): Recording<T> {
      const recording = new Recording(source);
      recordings.push(recording);
      return recording;
    }

    const at = (...names: string[]): string => [root, ...names].join('/');

    function reaches(registry: Registry, state: string): Promise<void> {
      return eventually(() => expect(registry.session.state).toBe(state), {
        label: `session ${state}`,
        interval: 5,
      });
    }

    function becomes(promise: () => Promise<unknown>, expected: unknown): Promise<void> {
      return eventually(async () => expect(await promise()).toEqual(expected), { interval: 5 });
    }

    /** Cuts a client off for so long that the store ends its session, which another session sees. */
    async function outlastSession({ registry, link }: Client): Promise<void> {
      const tombstone = at(`tombstone-${registry.session.id}`);
      await registry.create(tombstone, Buffer.alloc(0), { mode: 'ephemeral' });
      await witness.sync(tombstone);
      await link.cut();
      await becomes(() => witness.exists(tombstone), undefined);
    }

    describe('a session', () => {
      it('starts with connect() and tells its id and timeout', async () => {
        const { registry } = await harness.client({ sessionTimeout: harness.patience });
        expect(registry.session).toMatchObject({ state: 'connecting', id: undefined });
        const states = record(registry.session$);
        await registry.connect();
        expect(registry.session.state).toBe('connected');
        expect(registry.session.id).toMatch(/^\S+$/);
        expect(registry.session).toMatchObject({ timeout: harness.patience, timed: true });
        expect(states.values.map(({ state }) => state)).toEqual(['connecting', 'connected']);
        expect(states.last).toEqual(registry.session);
      });

      it('is another one for each registry', async () => {
        const { registry } = await open();
        expect(registry.session.id).not.toBe(witness.session.id);
      });

      it('tells a late subscriber its state first', async () => {
        expect(record(witness.session$).values).toEqual([witness.session]);
      });

      it('can be waited for again', async () => {
        const id = witness.session.id;
        await Promise.all([witness.connect(), witness.connect()]);
        expect(witness.session.id).toBe(id);
      });

      it('ends with close(): ephemeral nodes vanish, the stream completes', async () => {
        const { registry } = await open();
        await registry.create(at('e'), bytes(''), { mode: 'ephemeral' });
        const states = record(registry.session$);
        await registry.close();
        expect(registry.session.state).toBe('closed');
        expect(states.last?.state).toBe('closed');
        expect(states.completed).toBe(true);
        await witness.sync(root);
        expect(await witness.exists(at('e'))).toBeUndefined();
      });

      it('once closed, says so to whoever asks and takes nothing more', async () => {
        const { registry } = await open();
        await Promise.all([registry.close(), registry.close()]);
        await registry.close();
        const states = record(registry.session$);
        expect(states.values.map(({ state }) => state)).toEqual(['closed']);
        expect(states.completed).toBe(true);
        expect(await failureCode(registry.connect())).toBe('CLOSED');
        expect(await failure(registry.get(root))).toMatchObject({
          code: 'CLOSED',
          outcomeUnknown: false,
        });
        expect(record(registry.watch(root)).completed).toBe(true);
        expect(record(registry.watchChildren(root)).completed).toBe(true);
      });

      it('can be closed before it was opened', async () => {
        const { registry } = await harness.client();
        const pending = failureCode(registry.get(root));
        await registry.close();
        expect(await pending).toBe('CLOSED');
        expect(registry.session.state).toBe('closed');
      });

      it('can be closed while it is being opened', async () => {
        const { registry, link } = await harness.client();
        await link.cut();
        const connecting = failureCode(registry.connect({ timeout: 20_000 }));
        await registry.close();
        expect(await connecting).toBe('CLOSED');
      });

      it('says UNREACHABLE in time while there is no way, and comes about when there is one', async () => {
        const { registry, link } = await harness.client();
        await link.cut();
        expect(await failureCode(registry.connect({ timeout: 100 }))).toBe('UNREACHABLE');
        expect(registry.session.state).toBe('connecting');
        const again = registry.connect({ timeout: 20_000 });
        await link.heal();
        await again;
        expect(registry.session.state).toBe('connected');
      });

      it('does not wait for an aborted connect()', async () => {
        const { registry, link } = await harness.client();
        await link.cut();
        const controller = new AbortController();
        const code = failureCode(registry.connect({ signal: controller.signal }));
        controller.abort();
        expect(await code).toBe('ABORTED');
        expect(await failureCode(registry.connect({ signal: controller.signal }))).toBe('ABORTED');
      });

      it('survives a broken connection', async () => {
        const { registry, link } = await open();
        const { id } = registry.session;
        await registry.create(at('e'), bytes(''), { mode: 'ephemeral' });
        const states = record(registry.session$);
        await link.cut();
        await reaches(registry, 'suspended');
        expect(registry.session.id).toBe(id);
        await link.heal();
        await reaches(registry, 'connected');
        expect(registry.session.id).toBe(id);
        expect(states.values.map(({ state }) => state)).toEqual([
          'connected',
          'suspended',
          'connected',
        ]);
        expect(await registry.exists(at('e'))).toMatchObject({ owner: id });
      });

      it('keeps its id over reconnect()', async () => {
        const { registry } = await open();
        const { id } = registry.session;
        await registry.create(at('e'), bytes(''), { mode: 'ephemeral' });
        registry.reconnect();
        await eventually(() => registry.exists(at('e'), { timeout: 1_000 }));
        expect(registry.session).toMatchObject({ state: 'connected', id });
      });

      it('that is over is noticed only after reconnecting; another one follows by itself', async () => {
        const client = await open({ sessionTimeout: harness.haste });
        const { registry, link } = client;
        const first = registry.session.id;
        const states = record(registry.session$);
        await outlastSession(client);
        // The store has ended the session; we cannot know, so we do not say.
        expect(registry.session).toMatchObject({ state: 'suspended', id: first });
        await link.heal();
        await reaches(registry, 'connected');
        const second = registry.session.id;
        expect(second).not.toBe(first);
        expect(states.values.map(({ state, id }) => [state, id])).toEqual([
          ['connected', first],
          ['suspended', first],
          ['lost', first],
          ['connecting', undefined],
          ['connected', second],
        ]);
      });

      it('can be used from within the news of it', async () => {
        const client = await open({ sessionTimeout: harness.haste });
        const { registry, link } = client;
        const registered: Promise<unknown>[] = [];
        const subscription = registry.session$.subscribe(({ state, id }) => {
          if (state !== 'connected') return;
          registered.push(
            registry.create(at(`member-${registered.length}`), bytes(''), {
              mode: 'ephemeral',
              session: id,
            }),
          );
        });
        await outlastSession(client);
        await link.heal();
        await eventually(() => expect(registered).toHaveLength(2));
        await Promise.all(registered);
        subscription.unsubscribe();
        expect(await registry.exists(at('member-1'))).toMatchObject({ owner: registry.session.id });
      });

      it('takes its ephemeral nodes along, and only its own', async () => {
        const client = await open({ sessionTimeout: harness.haste });
        await client.registry.create(at('theirs'), bytes(''), { mode: 'ephemeral' });
        await client.registry.create(at('persistent'), bytes(''));
        await witness.create(at('ours'), bytes(''), { mode: 'ephemeral' });
        await outlastSession(client);
        expect(await witness.children(root)).toEqual(['ours', 'persistent']);
      });
    });

    describe('create', () => {
      it('makes a persistent node that outlives its maker', async () => {
        const { registry } = await open();
        expect(await registry.create(at('a'), bytes('data'))).toBe(at('a'));
        await registry.close();
        await witness.sync(root);
        const { data, stat } = await witness.get(at('a'));
        expect(data.toString()).toBe('data');
        expect(stat).toMatchObject({ version: 0, owner: undefined, childCount: 0 });
      });

      it('keeps any bytes, and none', async () => {
        const all = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
        await witness.create(at('all'), all);
        await witness.create(at('none'), Buffer.alloc(0));
        expect((await witness.get(at('all'))).data).toEqual(all);
        expect((await witness.get(at('none'))).data).toEqual(Buffer.alloc(0));
      });

      it('makes an ephemeral node that its session owns', async () => {
        expect(await witness.create(at('e'), bytes('x'), { mode: 'ephemeral' })).toBe(at('e'));
        expect((await witness.get(at('e'))).stat.owner).toBe(witness.session.id);
      });

      it('numbers sequential nodes and never gives a number twice', async () => {
        const { registry } = await open();
        const options = { mode: 'ephemeral-sequential' } as const;
        const first = await witness.create(at('n-'), bytes(''), options);
        const second = await registry.create(at('n-'), bytes(''), options);
        expect(first).toMatch(new RegExp(`^${at('n-')}\\d{10}$`));
        await registry.delete(second, ANY_VERSION);
        const third = await witness.create(at('other-'), bytes(''), options);
        expect([first, second, third].map(sequenceOf)).toEqual([0, 1, 2]);
        expect((await witness.exists(third))?.owner).toBe(witness.session.id);
      });

      it('refuses what exists', async () => {
        await witness.create(at('a'), bytes('1'));
        expect(await failure(witness.create(at('a'), bytes('2')))).toMatchObject({
          code: 'NODE_EXISTS',
          outcomeUnknown: false,
          subject: { operation: 'create', path: at('a') },
        });
        expect(textOf(await witness.get(at('a')))).toBe('1');
      });

      it('refuses a node without a parent, unless parents are asked for', async () => {
        const deep = at('a', 'b', 'c');
        expect(await failureCode(witness.create(deep, bytes('x')))).toBe('NO_NODE');
        expect(await witness.exists(at('a'))).toBeUndefined();
        expect(await witness.create(deep, bytes('x'), { parents: true })).toBe(deep);
        expect(await witness.get(at('a', 'b'))).toMatchObject({
          data: Buffer.alloc(0),
          stat: { owner: undefined, childCount: 1 },
        });
        expect(await failureCode(witness.create(deep, bytes('y'), { parents: true }))).toBe(
          'NODE_EXISTS',
        );
      });

      it('makes parents for ephemeral and sequential nodes, too', async () => {
        const options = { mode: 'ephemeral-sequential', parents: true } as const;
        const path = await witness.create(at('p', 'q', 'n-'), bytes(''), options);
        expect(path).toBe(at('p', 'q', 'n-0000000000'));
        expect(await witness.exists(at('p', 'q'))).toMatchObject({ owner: undefined });
      });

      it('makes the same parents for many at the same time', async () => {
        const { registry } = await open();
        const paths = Array.from({ length: 20 }, (_, index) => at('x', 'y', `n${index}`));
        await Promise.all(
          paths.map((path, index) =>
            (index % 2 ? witness : registry).create(path, bytes(''), { parents: true }),
          ),
        );
        await witness.sync(root);
        expect(await witness.children(at('x', 'y'))).toHaveLength(20);
      });

      it('refuses children of an ephemeral node', async () => {
        await witness.create(at('e'), bytes(''), { mode: 'ephemeral' });
        for (const parents of [false, true]) {
          const child = witness.create(at('e', 'child'), bytes(''), { parents });
          expect(await failureCode(child)).toBe('NO_CHILDREN_FOR_EPHEMERALS');
        }
      });

      it('takes the data as they are when it is called', async () => {
        const data = bytes('before');
        const created = witness.create(at('a'), data);
        data.write('after!');
        await created;
        const read = await witness.get(at('a'));
        expect(textOf(read)).toBe('before');
        read.data.write('by me!');
        expect(textOf(await witness.get(at('a')))).toBe('before');
      });
    });

    describe('get and exists', () => {
      it('say NO_NODE and undefined where the store says so', async () => {
        expect(await failure(witness.get(at('none')))).toMatchObject({
          code: 'NO_NODE',
          subject: { operation: 'get', path: at('none') },
        });
        expect(await witness.exists(at('none'))).toBeUndefined();
      });

      it('agree on what the store knows of a node', async () => {
        await witness.create(at('a'), bytes('1'));
        await witness.create(at('a', 'b'), bytes(''));
        const stat = await witness.exists(at('a'));
        expect(stat).toMatchObject({ version: 0, owner: undefined, childCount: 1 });
        expect((await witness.get(at('a'))).stat).toEqual(stat);
      });

      it('count the children that came and went', async () => {
        await witness.create(at('a'), bytes(''));
        expect(await witness.exists(at('a'))).toMatchObject({ childCount: 0, childChanges: 0 });
        await witness.create(at('a', 'b'), bytes(''));
        await witness.create(at('a', 'c'), bytes(''));
        expect(await witness.exists(at('a'))).toMatchObject({ childCount: 2, childChanges: 2 });
        await witness.delete(at('a', 'b'), 0);
        expect(await witness.exists(at('a'))).toMatchObject({ childCount: 1, childChanges: 3 });
      });

      it('tell two nodes of the same path apart by a creation id that grows', async () => {
        const createdIds: bigint[] = [];
        for (let round = 0; round < 3; round += 1) {
          await witness.create(at('a'), bytes(''));
          const stat = await witness.exists(at('a'));
          expect(stat?.modifiedId).toBe(stat?.createdId);
          createdIds.push(stat!.createdId);
          await witness.delete(at('a'), 0);
        }
        expect(createdIds.every((id) => typeof id === 'bigint' && id > 0n)).toBe(true);
        expect(createdIds[0]! < createdIds[1]! && createdIds[1]! < createdIds[2]!).toBe(true);
      });

      it('work on the root', async () => {
        expect((await witness.exists('/'))?.owner).toBeUndefined();
        expect(await witness.children('/')).toContain(root.slice(1));
        expect(await outcome(witness.create('/', bytes('')))).toBe('NODE_EXISTS');
      });
    });

    describe('set', () => {
      it('replaces the data and counts', async () => {
        await witness.create(at('a'), bytes('0'));
        const created = (await witness.exists(at('a')))!;
        const first = await witness.set(at('a'), bytes('1'), 0);
        expect(first).toMatchObject({ version: 1, createdId: created.createdId });
        expect(first.modifiedId > created.modifiedId).toBe(true);
        const second = await witness.set(at('a'), bytes('2'), ANY_VERSION);
        expect(second.version).toBe(2);
        expect(await witness.get(at('a'))).toEqual({ data: bytes('2'), stat: second });
      });

      it('refuses another version and changes nothing', async () => {
        await witness.create(at('a'), bytes('0'));
        await witness.set(at('a'), bytes('1'), 0);
        for (const version of [0, 2, 1_000]) {
          expect(await failureCode(witness.set(at('a'), bytes('x'), version))).toBe('BAD_VERSION');
        }
        expect(textOf(await witness.get(at('a')))).toBe('1');
      });

      it('refuses a node that does not exist', async () => {
        expect(await failureCode(witness.set(at('none'), bytes(''), ANY_VERSION))).toBe('NO_NODE');
      });
    });

    describe('delete', () => {
      it('deletes the version asked for, or any', async () => {
        await witness.create(at('a'), bytes(''));
        await witness.create(at('b'), bytes(''));
        await witness.set(at('a'), bytes(''), 0);
        expect(await failureCode(witness.delete(at('a'), 0))).toBe('BAD_VERSION');
        await witness.delete(at('a'), 1);
        await witness.delete(at('b'), ANY_VERSION);
        expect(await witness.children(root)).toEqual([]);
        expect(await failureCode(witness.delete(at('a'), ANY_VERSION))).toBe('NO_NODE');
      });

      it('refuses a node with children', async () => {
        await witness.create(at('a', 'b'), bytes(''), { parents: true });
        expect(await failureCode(witness.delete(at('a'), ANY_VERSION))).toBe('NOT_EMPTY');
        expect(await witness.children(at('a'))).toEqual(['b']);
      });

      it('takes away an ephemeral node of another session', async () => {
        const { registry } = await open();
        await registry.create(at('e'), bytes(''), { mode: 'ephemeral' });
        await witness.sync(at('e'));
        await witness.delete(at('e'), 0);
        await registry.sync(at('e'));
        expect(await registry.exists(at('e'))).toBeUndefined();
      });
    });

    describe('children', () => {
      it('are sorted, whatever the order they came in', async () => {
        const names = ['b', 'a', 'B', '10', '9', 'é', 'z'];
        await Promise.all(names.map((child) => witness.create(at(child), bytes(''))));
        expect(await witness.children(root)).toEqual([...names].toSorted());
      });

      it('are none for a leaf, and NO_NODE without the node', async () => {
        expect(await witness.children(root)).toEqual([]);
        expect(await failureCode(witness.children(at('none')))).toBe('NO_NODE');
      });
    });

    describe('sync', () => {
      it('makes later reads see what was committed before', async () => {
        const { registry } = await open();
        await witness.create(at('a'), bytes('0'));
        for (let version = 0; version < 50; version += 1) {
          await witness.set(at('a'), bytes(String(version + 1)), version);
          await registry.sync(at('a'));
          expect((await registry.get(at('a'))).stat.version).toBe(version + 1);
        }
      });

      it('works on a node that does not exist', async () => {
        await witness.sync(at('none'));
      });
    });

    describe('an operation', () => {
      it('takes effect and is answered in the order of the calls', async () => {
        const answers: string[] = [];
        const note = (what: string): void => void answers.push(what);
        await Promise.all([
          witness.create(at('a'), bytes('0')).then(note),
          witness.set(at('a'), bytes('1'), 0).then(({ version }) => note(`version ${version}`)),
          witness.get(at('a')).then((read) => note(`data ${textOf(read)}`)),
          witness.delete(at('a'), 1).then(() => note('deleted')),
          witness.exists(at('a')).then((stat) => note(stat ? 'there' : 'gone')),
        ]);
        expect(answers).toEqual([at('a'), 'version 1', 'data 1', 'deleted', 'gone']);
      });

      it.each([
        ['that is empty', ''],
        ['without a slash', 'a'],
        ['with a slash at its end', '/a/'],
        ['with an empty first part', '//a'],
        ['with an empty part', '/a//b'],
        ['with a dot for a part', '/a/./b'],
        ['with two dots for a part', '/..'],
        ['with a null character', '/a\u0000'],
        ['with a line feed', '/a\nb'],
        ['with a control character', '/\u009f'],
        ['with a private character', '/\uf000'],
        ['with half a surrogate pair', '/\ud800'],
      ])('refuses a path %s before anything is sent', async (_, path) => {
        const { registry, link } = await open();
        const before = link.requests();
        const options: OperationOptions = { timeout: 5_000 };
        const calls = [
          registry.create(path, bytes(''), options),
          registry.get(path, options),
          registry.set(path, bytes(''), 0, options),
          registry.delete(path, 0, options),
          registry.children(path, options),
          registry.exists(path, options),
          registry.sync(path, options),
        ];
        for (const call of calls) {
          expect(await failure(call)).toMatchObject({ code: 'INVALID', outcomeUnknown: false });
        }
        expect(() => registry.watch(path)).toThrow(expect.objectContaining({ code: 'INVALID' }));
        expect(() => registry.watchChildren(path)).toThrow(
          expect.objectContaining({ code: 'INVALID' }),
        );
        expect(link.requests()).toBe(before);
      });

      it('refuses data that are none and versions that are none before anything is sent', async () => {
        const { registry, link } = await open();
        await registry.create(at('a'), bytes(''));
        const before = link.requests();
        for (const data of [null, undefined, 'text', new Uint8Array(1)] as unknown as Buffer[]) {
          expect(await failureCode(registry.create(at('b'), data))).toBe('INVALID');
          expect(await failureCode(registry.set(at('a'), data, 0))).toBe('INVALID');
        }
        for (const version of [null, undefined, NaN, -2, 0.5, '0'] as unknown as number[]) {
          expect(await failureCode(registry.set(at('a'), bytes(''), version))).toBe('INVALID');
          expect(await failureCode(registry.delete(at('a'), version))).toBe('INVALID');
        }
        expect(link.requests()).toBe(before);
      });

      it('refuses to delete the root', async () => {
        expect(await failureCode(witness.delete('/', ANY_VERSION))).toBe('INVALID');
        expect(await witness.exists('/')).toBeDefined();
      });

      it('refuses data beyond the limit before anything is sent, and takes data at the limit', async () => {
        const { registry, link } = await open();
        const largest = Buffer.alloc(MAX_DATA_BYTES, 'x');
        const larger = Buffer.alloc(MAX_DATA_BYTES + 1);
        await registry.create(at('a'), largest);
        const before = link.requests();
        expect(await failureCode(registry.create(at('b'), larger))).toBe('TOO_LARGE');
        expect(await failureCode(registry.set(at('a'), larger, 0))).toBe('TOO_LARGE');
        expect(link.requests()).toBe(before);
        await registry.set(at('a'), largest, 0);
        expect((await registry.get(at('a'))).data.equals(largest)).toBe(true);
      });

      it('ends at its deadline, with an unknown outcome if it was sent', async () => {
        const { registry, link } = await open();
        link.freeze();
        const started = performance.now();
        expect(await failure(registry.get(root, { timeout: 100 }))).toMatchObject({
          code: 'TIMED_OUT',
          outcomeUnknown: true,
        });
        expect(performance.now() - started).toBeGreaterThan(95);
        expect(performance.now() - started).toBeLessThan(1_500);
        link.thaw();
        // The late answer belongs to nobody: it must not be taken for that of another operation.
        await registry.create(at('a'), bytes('x'), { timeout: 20_000 });
        expect(textOf(await registry.get(at('a')))).toBe('x');
      });

      it('ends at its deadline, with nothing sent, when there is no connection', async () => {
        const { registry, link } = await open();
        await link.cut();
        await reaches(registry, 'suspended');
        const write = registry.create(at('a'), bytes(''), { timeout: 50 });
        expect(await failure(write)).toMatchObject({ code: 'TIMED_OUT', outcomeUnknown: false });
        await link.heal();
        await reaches(registry, 'connected');
        expect(await registry.exists(at('a'))).toBeUndefined();
      });

      it('has its answer when that is late but in time', async () => {
        const { registry, link } = await open();
        link.delay(300);
        const started = performance.now();
        const late = outcome(registry.get(root, { timeout: 100 }));
        const inTime = registry.exists(root, { timeout: 10_000 });
        expect(await late).toBe('TIMED_OUT');
        expect(await inTime).toBeDefined();
        expect(performance.now() - started).toBeGreaterThan(295);
        link.delay(0);
      });

      it('has the session timeout as its deadline if none is given', async () => {
        const { registry } = await harness.client({ sessionTimeout: harness.haste });
        const started = performance.now();
        expect(await failureCode(registry.get(root))).toBe('TIMED_OUT');
        expect(performance.now() - started).toBeGreaterThan(harness.haste * 0.95);
      });

      it('is not sent if its signal has fired before', async () => {
        const { registry, link } = await open();
        const before = link.requests();
        const signal = AbortSignal.abort();
        expect(await failure(registry.create(at('a'), bytes(''), { signal }))).toMatchObject({
          code: 'ABORTED',
          outcomeUnknown: false,
        });
        expect(link.requests()).toBe(before);
      });

      it('ends when its signal fires, with an unknown outcome if it was sent', async () => {
        const { registry, link } = await open();
        const controller = new AbortController();
        link.freeze('down');
        const write = failure(registry.create(at('a'), bytes(''), { signal: controller.signal }));
        await becomes(async () => (await witness.exists(at('a'))) !== undefined, true);
        controller.abort();
        expect(await write).toMatchObject({ code: 'ABORTED', outcomeUnknown: true });
        link.thaw();
      });

      it('ends when its signal fires, with nothing sent, when there is no connection', async () => {
        const { registry, link } = await open();
        await link.cut();
        await reaches(registry, 'suspended');
        const controller = new AbortController();
        const write = failure(registry.create(at('a'), bytes(''), { signal: controller.signal }));
        controller.abort();
        expect(await write).toMatchObject({ code: 'ABORTED', outcomeUnknown: false });
      });

      it('pinned to another session is refused, and nothing sent', async () => {
        const { registry, link } = await open();
        const before = link.requests();
        const write = registry.create(at('a'), bytes(''), { session: 'another' });
        expect(await failure(write)).toMatchObject({ code: 'SESSION_LOST', outcomeUnknown: false });
        expect(link.requests()).toBe(before);
        await registry.create(at('b'), bytes(''), { session: registry.session.id });
      });

      it('pinned to a session ends with that session', async () => {
        const client = await open({ sessionTimeout: harness.haste });
        const { registry, link } = client;
        const session = registry.session.id;
        await outlastSession(client);
        const waiting = failure(registry.create(at('a'), bytes(''), { session, timeout: 20_000 }));
        await link.heal();
        expect(await waiting).toMatchObject({ code: 'SESSION_LOST', outcomeUnknown: false });
        await reaches(registry, 'connected');
        expect(await failureCode(registry.create(at('a'), bytes(''), { session }))).toBe(
          'SESSION_LOST',
        );
        expect(await registry.exists(at('a'))).toBeUndefined();
      });

      it('called before connect() waits for the session', async () => {
        const { registry } = await harness.client();
        const created = registry.create(at('a'), bytes('x'), { timeout: 20_000 });
        await registry.connect();
        expect(await created).toBe(at('a'));
      });

      it('called while disconnected waits, and then they run in order', async () => {
        const { registry, link } = await open();
        await link.cut();
        await reaches(registry, 'suspended');
        const options = { timeout: 20_000 };
        const waiting = Promise.all([
          registry.create(at('a'), bytes('0'), options),
          registry.set(at('a'), bytes('1'), 0, options),
          registry.get(at('a'), options),
          registry.children(root, options),
        ]);
        await link.heal();
        const [path, stat, snapshot, children] = await waiting;
        expect(path).toBe(at('a'));
        expect(stat.version).toBe(1);
        expect(textOf(snapshot)).toBe('1');
        expect(children).toEqual(['a']);
      });

      it('whose connection breaks says so, never that a node does not exist', async () => {
        const { registry, link } = await open();
        await witness.create(at('a'), bytes('x'));
        await registry.sync(at('a'));
        link.freeze('down');
        const reads = [
          outcome(registry.get(at('a'))),
          outcome(registry.exists(at('a'))),
          outcome(registry.children(at('a'))),
          outcome(registry.set(at('a'), bytes('y'), 0)),
        ];
        // The last one has taken effect, so all of them have been sent.
        await becomes(async () => textOf(await witness.get(at('a'))), 'y');
        await link.cut();
        link.thaw();
        expect(await Promise.all(reads)).toEqual(Array(4).fill('CONNECTION_LOST'));
      });
    });

    describe('a write', () => {
      it('whose answer is lost has an unknown outcome', async () => {
        const { registry, link } = await open();
        link.loseNextAnswer();
        expect(await failure(registry.create(at('a'), bytes('x')))).toMatchObject({
          code: 'CONNECTION_LOST',
          outcomeUnknown: true,
        });
        await registry.sync(root, { timeout: 20_000 });
        expect(textOf(await registry.get(at('a')))).toBe('x');
      });

      it('whose request is lost has an unknown outcome, too', async () => {
        const { registry, link } = await open();
        link.loseNextRequest();
        expect(await failure(registry.create(at('a'), bytes('x')))).toMatchObject({
          code: 'CONNECTION_LOST',
          outcomeUnknown: true,
        });
        await registry.sync(root, { timeout: 20_000 });
        expect(await registry.exists(at('a'))).toBeUndefined();
      });

      it('is won by exactly one of two sessions, a thousand times', async () => {
        const { registry } = await open();
        await witness.create(at('a'), bytes('none'));
        await registry.sync(at('a'));
        const wins = { witness: 0, other: 0 };
        for (let version = 0; version < 1_000; version += 1) {
          const first = version % 2 ? registry : witness;
          const second = version % 2 ? witness : registry;
          const outcomes = await Promise.all([
            outcome(first.set(at('a'), bytes(first === witness ? 'witness' : 'other'), version)),
            outcome(second.set(at('a'), bytes(second === witness ? 'witness' : 'other'), version)),
          ]);
          expect(outcomes.toSorted()).toEqual(['BAD_VERSION', 'ok']);
          const winner = outcomes[0] === 'ok' ? first : second;
          wins[winner === witness ? 'witness' : 'other'] += 1;
        }
        await witness.sync(at('a'));
        expect((await witness.get(at('a'))).stat.version).toBe(1_000);
        expect(wins.witness + wins.other).toBe(1_000);
      });
    });

    describe('a sure write', () => {
      const sure = (registry: Registry): SureWrites =>
        new SureWrites(registry, systemEnvironment());

      describe.each(['answer', 'request'] as const)('whose %s is lost', (part) => {
        async function openWithLoss(): Promise<Registry> {
          const { registry, link } = await open();
          await registry.create(at('node'), bytes('0'));
          if (part === 'answer') link.loseNextAnswer();
          else link.loseNextRequest();
          return registry;
        }

        it('creates once', async () => {
          const registry = await openWithLoss();
          const states = record(registry.session$);
          await sure(registry).create(at('a'), bytes('nonce-1'), { timeout: 20_000 });
          expect((await registry.get(at('a'))).stat.version).toBe(0);
          expect(textOf(await registry.get(at('a')))).toBe('nonce-1');
          expect(states.values.map(({ state }) => state)).toContain('suspended');
        });

        it('creates an ephemeral node of this session once', async () => {
          const registry = await openWithLoss();
          const { id } = registry.session;
          await sure(registry).create(at('a'), bytes('nonce-1'), {
            mode: 'ephemeral',
            session: id,
            timeout: 20_000,
          });
          expect((await registry.get(at('a'))).stat.owner).toBe(id);
        });

        it('creates one sequential node', async () => {
          const registry = await openWithLoss();
          const path = await sure(registry).createSequential(at('node'), 'n-', bytes('x'), {
            timeout: 20_000,
          });
          expect(await registry.children(at('node'))).toEqual([path.slice(at('node').length + 1)]);
          expect(sequenceOf(path)).toBe(0);
        });

        it('sets once', async () => {
          const registry = await openWithLoss();
          const stat = await sure(registry).set(at('node'), bytes('nonce-1'), 0, {
            timeout: 20_000,
          });
          expect(stat.version).toBe(1);
          expect(await registry.get(at('node'))).toEqual({ data: bytes('nonce-1'), stat });
        });

        it('deletes once', async () => {
          const registry = await openWithLoss();
          const { createdId } = (await registry.exists(at('node')))!;
          await sure(registry).delete(at('node'), createdId, { timeout: 20_000 });
          expect(await registry.exists(at('node'))).toBeUndefined();
        });
      });

      it('does not take the node of another for its own', async () => {
        const { registry, link } = await open();
        await link.cut();
        await reaches(registry, 'suspended');
        await witness.create(at('a'), bytes('theirs'));
        const write = failureCode(
          sure(registry).create(at('a'), bytes('ours'), { timeout: 20_000 }),
        );
        await link.heal();
        expect(await write).toBe('NODE_EXISTS');
        expect(await failureCode(sure(registry).set(at('a'), bytes('ours'), 5))).toBe(
          'BAD_VERSION',
        );
      });

      it('does not delete the successor of a node', async () => {
        await witness.create(at('a'), bytes('1'));
        const { createdId } = (await witness.exists(at('a')))!;
        await witness.delete(at('a'), 0);
        await witness.create(at('a'), bytes('2'));
        await sure(witness).delete(at('a'), createdId);
        expect(textOf(await witness.get(at('a')))).toBe('2');
      });

      it('goes on in the next session unless it is pinned to one', async () => {
        const client = await open({ sessionTimeout: harness.haste });
        const { registry, link } = client;
        const session = registry.session.id;
        link.freeze('down');
        const free = sure(registry).set(root, bytes('nonce-1'), 0, { timeout: 30_000 });
        const pinned = failureCode(
          sure(registry).create(at('a'), bytes('x'), {
            mode: 'ephemeral',
            session,
            timeout: 30_000,
          }),
        );
        await becomes(async () => (await witness.exists(at('a')))?.owner, session);
        await link.cut();
        link.thaw();
        await becomes(() => witness.exists(at('a')), undefined);
        await link.heal();
        expect((await free).version).toBe(1);
        expect(await pinned).toBe('SESSION_LOST');
        expect(registry.session.id).not.toBe(session);
      });
    });

    describe('a live view', () => {
      it('tells the value first, then each change', async () => {
        const { registry } = await open();
        await witness.create(at('a'), bytes('0'));
        await registry.sync(at('a'));
        const view = record(registry.watch(at('a')));
        await eventually(() => expect(view.values.map(textOf)).toEqual(['0']));
        for (let version = 0; version < 5; version += 1) {
          const stat = await witness.set(at('a'), bytes(String(version + 1)), version);
          await eventually(() => expect(view.last?.stat).toEqual(stat), { interval: 1 });
        }
        expect(view.values.map(textOf)).toEqual(['0', '1', '2', '3', '4', '5']);
      });

      it('follows a node that comes, goes and comes again', async () => {
        const { registry } = await open();
        const view = record(registry.watch(at('a')));
        await eventually(() => expect(view.values).toStrictEqual([undefined]));
        await witness.create(at('a'), bytes('1'));
        await eventually(() => expect(textOf(view.last)).toBe('1'));
        await witness.delete(at('a'), 0);
        await eventually(() => expect(view.last).toBeUndefined());
        await witness.create(at('a'), bytes('2'));
        await eventually(() => expect(textOf(view.last)).toBe('2'));
        expect(view.values.map(textOf)).toEqual([undefined, '1', undefined, '2']);
      });

      it('follows the children of a node that comes, goes and comes again', async () => {
        const { registry } = await open();
        const view = record(registry.watchChildren(at('p')));
        const shows = (names: string[] | undefined): Promise<void> =>
          eventually(() => expect([view.values.length > 0, view.last]).toEqual([true, names]), {
            interval: 1,
          });
        await shows(undefined);
        await witness.create(at('p'), bytes(''));
        await shows([]);
        await witness.create(at('p', 'b'), bytes(''));
        await shows(['b']);
        await witness.create(at('p', 'a'), bytes(''));
        await shows(['a', 'b']);
        // Neither the node's own data nor a child's are a change of the list.
        await witness.set(at('p'), bytes('x'), 0);
        await witness.set(at('p', 'a'), bytes('x'), 0);
        await witness.delete(at('p', 'a'), ANY_VERSION);
        await shows(['b']);
        await witness.delete(at('p', 'b'), ANY_VERSION);
        await shows([]);
        await witness.delete(at('p'), ANY_VERSION);
        await shows(undefined);
        await witness.create(at('p', 'c'), bytes(''), { parents: true });
        await shows(['c']);
        expect(view.values).not.toContainEqual(['a']);
      });

      it('sees an ephemeral node vanish with its session', async () => {
        const { registry } = await open();
        await registry.create(at('e'), bytes(''), { mode: 'ephemeral' });
        const node = record(witness.watch(at('e')));
        const children = record(witness.watchChildren(root));
        await eventually(() => expect(children.last).toEqual(['e']));
        await eventually(() => expect(node.last?.stat.owner).toBe(registry.session.id));
        await registry.close();
        await eventually(() => expect([node.last, children.last]).toEqual([undefined, []]));
      });

      it('is not told twice that nothing has changed', async () => {
        const { registry, link } = await open();
        await witness.create(at('a'), bytes('1'));
        await registry.sync(at('a'));
        const views = [
          record(registry.watch(at('a'))),
          record(registry.watchChildren(at('a'))),
          record(registry.watch(at('none'))),
          record(registry.watchChildren(at('none'))),
        ];
        await eventually(() =>
          expect(views.map(({ values }) => values.length)).toEqual([1, 1, 1, 1]),
        );
        for (let round = 0; round < 3; round += 1) {
          await link.cut();
          await reaches(registry, 'suspended');
          await link.heal();
          await reaches(registry, 'connected');
        }
        // Children of a node are not its data: the stat changes, the version does not.
        await witness.create(at('a', 'child'), bytes(''));
        await eventually(() => expect(views[1]?.last).toEqual(['child']));
        await registry.sync(at('a'));
        expect(views.map(({ values }) => values.length)).toEqual([1, 2, 1, 1]);
      });

      it('shares its work among subscribers', async () => {
        const { registry, link } = await open();
        await witness.create(at('a'), bytes('0'));
        await registry.sync(at('a'));
        const first = record(registry.watch(at('a')));
        await eventually(() => expect(first.values).toHaveLength(1));
        const before = link.reads();
        const second = record(registry.watch(at('a')));
        const third = record(registry.watch(at('a')));
        expect([second, third].map(({ values }) => values.map(textOf))).toEqual([['0'], ['0']]);
        second.stop();
        await witness.set(at('a'), bytes('1'), 0);
        await eventually(() => {
          expect([first, second, third].map(({ last }) => textOf(last))).toEqual(['1', '0', '1']);
        });
        // One more read, for all of them.
        expect(link.reads() - before).toBe(1);
      });

      it('leaves no work behind when nobody looks any more', async () => {
        const { registry, link } = await open();
        await witness.create(at('a'), bytes('0'));
        await registry.sync(at('a'));
        const views = [record(registry.watch(at('a'))), record(registry.watchChildren(root))];
        await eventually(() => expect(views.every(({ values }) => values.length === 1)).toBe(true));
        for (const view of views) view.stop();
        const before = link.reads();
        for (let version = 0; version < 5; version += 1) {
          await witness.set(at('a'), bytes('x'), version);
          await witness.create(at(`child-${version}`), bytes(''));
        }
        await link.cut();
        await reaches(registry, 'suspended');
        await link.heal();
        await reaches(registry, 'connected');
        await registry.sync(at('a'));
        expect((await registry.get(at('a'))).stat.version).toBe(5);
        // The one just above.
        expect(link.reads() - before).toBe(1);
        expect(views.map(({ values }) => values.length)).toEqual([1, 1]);
        // And looking again starts from what there is now.
        const again = record(registry.watch(at('a')));
        await eventually(() => expect(again.last?.stat.version).toBe(5));
        expect(again.values).toHaveLength(1);
      });

      it('may be looked at before there is a connection', async () => {
        await witness.create(at('a'), bytes('1'));
        const { registry } = await harness.client();
        const view = record(registry.watch(at('a')));
        const children = record(registry.watchChildren(at('a')));
        expect([view.values, children.values]).toEqual([[], []]);
        await registry.connect();
        await registry.sync(at('a'));
        await eventually(() => expect([textOf(view.last), children.last]).toEqual(['1', []]));
      });

      it('catches up with what it missed while disconnected', async () => {
        const { registry, link } = await open();
        await Promise.all(
          ['changed', 'deleted', 'same'].map((child) => witness.create(at(child), bytes('0'))),
        );
        await registry.sync(root);
        const names = ['changed', 'deleted', 'same', 'created'];
        const views = names.map((child) => record(registry.watch(at(child))));
        const children = record(registry.watchChildren(root));
        await eventually(() => expect(views.every(({ values }) => values.length === 1)).toBe(true));
        await link.cut();
        await reaches(registry, 'suspended');
        await witness.set(at('changed'), bytes('1'), 0);
        await witness.delete(at('deleted'), 0);
        await witness.create(at('created'), bytes('1'));
        await link.heal();
        await eventually(() => {
          expect(views.map(({ values }) => values.map(textOf))).toEqual([
            ['0', '1'],
            ['0', undefined],
            ['0'],
            [undefined, '1'],
          ]);
          expect(children.last).toEqual(['changed', 'created', 'same']);
        });
        // And it is alive: what happens now is seen as well.
        await witness.set(at('changed'), bytes('2'), 1);
        await witness.set(at('same'), bytes('1'), 0);
        await eventually(() => {
          expect([views[0], views[2]].map((view) => textOf(view?.last))).toEqual(['2', '1']);
        });
      });

      it('catches up with what it missed when its session was lost', async () => {
        const client = await open({ sessionTimeout: harness.haste });
        const { registry, link } = client;
        await registry.create(at('own'), bytes(''), { mode: 'ephemeral' });
        await registry.create(at('a'), bytes('0'));
        const own = record(registry.watch(at('own')));
        const node = record(registry.watch(at('a')));
        const children = record(registry.watchChildren(at('a')));
        await eventually(() => expect([own.values.length, node.values.length]).toEqual([1, 1]));
        await outlastSession(client);
        await witness.set(at('a'), bytes('1'), 0);
        await witness.create(at('a', 'child'), bytes(''));
        await link.heal();
        await eventually(() => {
          expect(own.values.slice(1)).toEqual([undefined]);
          expect(node.values.map(textOf)).toEqual(['0', '1']);
          expect(children.values).toEqual([[], ['child']]);
        });
        await witness.set(at('a'), bytes('2'), 1);
        await eventually(() => expect(textOf(node.last)).toBe('2'));
      });

      it('never shows an older value after a newer one', async () => {
        const { registry, link } = await open();
        await witness.create(at('a'), bytes('0'));
        await registry.sync(at('a'));
        const views = [record(registry.watch(at('a')))];
        const writes: Promise<unknown>[] = [];
        for (let version = 0; version < 300; version += 1) {
          writes.push(witness.set(at('a'), bytes(String(version + 1)), version));
          if (version % 100 === 50) {
            await link.cut();
            await reaches(registry, 'suspended');
            await link.heal();
          }
          if (version % 10 === 0) {
            await Promise.all(writes);
            views.push(record(registry.watch(at('a'))));
          }
        }
        await Promise.all(writes);
        await eventually(() => {
          expect(views.every(({ last }) => last?.stat.version === 300)).toBe(true);
        });
        for (const { values } of views) {
          const versions = values.map((value) => value?.stat.version ?? -1);
          expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
        }
      });

      it('never misses the last of ten thousand changes', async () => {
        const { registry } = await open();
        await witness.create(at('a'), bytes('0'));
        await registry.sync(at('a'));
        const view = record(registry.watch(at('a')));
        await eventually(() => expect(view.values).toHaveLength(1));
        for (let version = 0; version < 10_000; version += 100) {
          await Promise.all(
            Array.from({ length: 100 }, (_, index) =>
              witness.set(at('a'), bytes(String(version + index + 1)), version + index, {
                timeout: 20_000,
              }),
            ),
          );
        }
        await eventually(() => expect(textOf(view.last)).toBe('10000'));
        const versions = view.values.map((value) => value!.stat.version);
        expect(
          versions.every((version, index) => index === 0 || version > versions[index - 1]!),
        ).toBe(true);
        expect(view.values.every((value) => textOf(value) === String(value?.stat.version))).toBe(
          true,
        );
      }, 60_000);

      it('holds for two thousand nodes over a reconnect', async () => {
        const count = 2_000;
        const { registry, link } = await open();
        const paths = Array.from({ length: count }, (_, index) => at(`n${index}`));
        const options = { timeout: 20_000 };
        await Promise.all(paths.map((path) => witness.create(path, bytes('0'), options)));
        await registry.sync(root);
        const views = paths.map((path) => record(registry.watch(path)));
        await eventually(() => expect(views.every(({ values }) => values.length === 1)).toBe(true));
        await link.cut();
        await reaches(registry, 'suspended');
        await Promise.all(
          paths
            .filter((_, index) => index % 2)
            .map((path) => witness.set(path, bytes('1'), 0, options)),
        );
        await link.heal();
        const shown = (): (string | undefined)[] => views.map(({ last }) => textOf(last));
        // Two thousand reads after a reconnect take their time on a busy machine.
        const patience = { timeout: 30_000 };
        await eventually(() => {
          expect(shown().every((text, index) => text === String(index % 2))).toBe(true);
        }, patience);
        await Promise.all(paths.map((path) => witness.set(path, bytes('2'), ANY_VERSION, options)));
        await eventually(() => expect(shown().every((text) => text === '2')).toBe(true), patience);
        expect(views.every(({ values }, index) => values.length === 2 + (index % 2))).toBe(true);
      }, 120_000);

      it('completes with the registry', async () => {
        const { registry, link } = await open();
        const connected = [record(registry.watch(root)), record(registry.watchChildren(root))];
        await eventually(() => expect(connected.every(({ last }) => last)).toBe(true));
        await link.cut();
        await reaches(registry, 'suspended');
        const disconnected = [
          record(registry.watch(at('a'))),
          record(registry.watchChildren(at('a'))),
        ];
        await registry.close();
        for (const view of [...connected, ...disconnected]) {
          expect([view.completed, view.error]).toEqual([true, undefined]);
        }
      });
    });

    describe('closing', () => {
      function startMany(registry: Registry): Promise<string[]> {
        const options = { timeout: 60_000 };
        return Promise.all(
          Array.from({ length: 50 }, (_, index) => [
            registry.create(at(`n${index}`), bytes('x'), options),
            registry.create(at('s-'), bytes('x'), { ...options, mode: 'ephemeral-sequential' }),
            registry.get(root, options),
            registry.children(root, options),
            registry.exists(at('none'), options),
            registry.set(root, bytes('x'), ANY_VERSION, options),
            registry.sync(root, options),
            registry.delete(at('none'), ANY_VERSION, options),
          ])
            .flat()
            .map(outcome),
        );
      }

      it('ends everything under way', async () => {
        const { registry } = await open();
        const under = startMany(registry);
        await registry.close();
        for (const ended of await under) expect(['ok', 'NO_NODE', 'CLOSED']).toContain(ended);
      });

      it('ends everything under way on a frozen link', async () => {
        const { registry, link } = await open();
        link.freeze();
        const under = startMany(registry);
        await registry.close();
        expect(new Set(await under)).toEqual(new Set(['CLOSED']));
        link.thaw();
      });

      it('ends everything that waits for a connection', async () => {
        const { registry, link } = await open();
        await link.cut();
        await reaches(registry, 'suspended');
        const under = startMany(registry);
        await registry.close();
        expect(new Set(await under)).toEqual(new Set(['CLOSED']));
      });

      it('without a connection lets the session run out', async () => {
        const { registry, link } = await open({ sessionTimeout: harness.haste });
        await registry.create(at('e'), bytes(''), { mode: 'ephemeral' });
        await witness.sync(at('e'));
        await link.cut();
        await reaches(registry, 'suspended');
        await registry.close();
        expect(registry.session.state).toBe('closed');
        await becomes(() => witness.exists(at('e')), undefined);
      });
    });

    describe('a bad day of the store', () => {
      /** A client with an ephemeral node and a live view, and what must be true of it afterwards. */
      async function openWithDuties(options?: ClientOptions) {
        const client = await open(options);
        const { registry } = client;
        const session = registry.session.id;
        await registry.create(at('duty'), bytes('0'));
        await registry.create(at('member'), bytes(''), { mode: 'ephemeral' });
        const view = record(registry.watch(at('duty')));
        const states = record(registry.session$);
        await eventually(() => expect(textOf(view.last)).toBe('0'));

        async function check({ sameSession }: { sameSession: boolean | undefined }): Promise<void> {
          await registry.connect({ timeout: 20_000 });
          const stat = await eventually(() =>
            registry.set(at('duty'), bytes('1'), ANY_VERSION, { timeout: 5_000 }),
          );
          await eventually(() => expect(view.last?.stat.version).toBe(stat.version));
          const isSame = registry.session.id === session;
          if (sameSession !== undefined) expect(isSame).toBe(sameSession);
          const member = await registry.exists(at('member'));
          expect(member?.owner).toBe(isSame ? session : undefined);
          expect(states.values.some(({ state }) => state === 'lost')).toBe(!isSame);
        }
        return { ...client, check };
      }

      it('stopped and started again: sessions and ephemeral nodes live on', async () => {
        const { registry, check } = await openWithDuties();
        await harness.stop();
        await reaches(registry, 'suspended');
        const waiting = registry.create(at('waited'), bytes(''), { timeout: 30_000 });
        await harness.start();
        await waiting;
        await check({ sameSession: true });
      }, 60_000);

      it('frozen for a moment: what was asked is answered', async () => {
        const { registry, check } = await openWithDuties();
        await harness.freeze();
        const asked = registry.get(at('duty'), { timeout: 20_000 });
        expect(await failureCode(registry.get(at('duty'), { timeout: 200 }))).toBe('TIMED_OUT');
        await harness.resume();
        expect(textOf(await asked)).toBe('0');
        await check({ sameSession: true });
      }, 60_000);

      it('frozen until the client has given up, and resumed before the session timeout', async () => {
        const { registry, check } = await openWithDuties();
        await harness.freeze();
        const asked = outcome(registry.get(at('duty'), { timeout: 30_000 }));
        await reaches(registry, 'suspended');
        await harness.resume();
        expect(await asked).toBe('CONNECTION_LOST');
        await check({ sameSession: true });
      }, 60_000);

      it('frozen for longer than the session timeout', async () => {
        const { registry, check } = await openWithDuties({ sessionTimeout: harness.haste });
        await harness.freeze();
        await reaches(registry, 'suspended');
        // As long as it takes; a deadline is the only thing that still happens.
        const timeout = harness.haste * 1.5;
        expect(await failureCode(registry.get(root, { timeout }))).toBe('TIMED_OUT');
        await harness.resume();
        // Which comes first when it wakes up, our call or its own clock, is not for us to say.
        await check({ sameSession: undefined });
      }, 60_000);

      if (servers > 1) {
        it('its leader killed: sessions, ephemeral nodes and views live on', async () => {
          const first = await openWithDuties();
          await harness.killLeader();
          await first.check({ sameSession: true });
        }, 60_000);

        it('its leader killed in the middle of writes: each has one effect', async () => {
          const { registry } = await open();
          const sure = new SureWrites(registry, systemEnvironment());
          await registry.create(at('counter'), bytes('start'));
          const progress = { isKilled: false };
          const killed = harness.killLeader().finally(() => (progress.isKilled = true));
          let version = 0;
          while (!progress.isKilled || version < 20) {
            const stat = await sure.set(at('counter'), bytes(`nonce-${version}`), version, {
              timeout: 30_000,
            });
            expect(stat.version).toBe(++version);
          }
          await killed;
          expect((await registry.get(at('counter'))).stat.version).toBe(version);
        }, 60_000);
      }
    });
  });
}
