import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, filter, take, toArray } from 'rxjs';
import { eventually } from '../../test/kit/eventually.js';
import { MemoryGroup } from '../../test/kit/memory-group.js';
import { planOf } from '../../test/kit/plans.js';
import { encodePlan } from '../coordinator/plan-codec.js';
import { systemEnvironment } from '../registry/environment.js';
import { readSnapshot } from './snapshot.js';
import { encodeConfig, newConfig } from '../coordinator/group-config.js';
import { ANY_VERSION } from '../registry/registry.js';
import { SureWrites } from '../registry/sure-writes.js';
import { ConnectionLostError, TimedOutError } from '../registry/registry.errors.js';
import type { ChangePreview, ShardingAdmin } from './sharding-admin.js';
import type { GroupStatus } from './status.js';

const CONFIG = '/group/config';

describe('an administrator', () => {
  let group: MemoryGroup;
  let admin: ShardingAdmin;

  beforeEach(() => {
    group = new MemoryGroup('group', { total: 4 });
    admin = group.admin();
  });

  afterEach(() => group.close());

  const settled = async (): Promise<void> => {
    await eventually(async () => (await admin.status()).state === 'settled');
  };

  describe('who looks', () => {
    it('sees instances, who leads, what is held, and the configuration', async () => {
      await group.start('a', { labels: { zone: 'x' }, weight: 3 });
      await group.start('b');
      await settled();
      const status = await admin.status();
      expect(status).toMatchObject({
        namespace: 'group',
        state: 'settled',
        total: 4,
        leader: { id: 'a', deputies: 1 },
        waits: [],
        configuration: { total: 4, strategy: 'sticky' },
        problems: [],
      });
      expect(status.instances).toEqual([
        expect.objectContaining({
          id: 'a',
          state: 'active',
          leads: true,
          weight: 3,
          labels: { zone: 'x' },
          renews: true,
        }),
        expect.objectContaining({ id: 'b', state: 'active', leads: false, weight: 1 }),
      ]);
      for (const { id, items } of status.instances) expect(items).toEqual(group.items(id));
      expect(JSON.parse(JSON.stringify(status))).toEqual(status);
    });

    it('sees every change', async () => {
      await group.start('a');
      await settled();
      const seen = firstValueFrom(
        admin.watch().pipe(
          filter(({ instances }) => instances.length === 2),
          take(1),
          toArray(),
        ),
      );
      await group.start('b');
      expect((await seen)[0]!.instances.map(({ id }) => id)).toEqual(['a', 'b']);
    });

    it('is told that what it sees is old while the store does not answer', async () => {
      await group.start('a');
      await settled();
      const registry = group.registry();
      const seen: GroupStatus[] = [];
      const watching = group
        .admin(registry)
        .watch()
        .subscribe((status) => seen.push(status));
      await eventually(() => seen.at(-1)?.state === 'settled');
      expect(seen.at(-1)).not.toHaveProperty('stale');
      const before = seen.at(-1)!;
      registry.link.cut();
      await eventually(() =>
        expect(seen.at(-1)).toMatchObject({ ...before, at: expect.any(Number), stale: true }),
      );
      registry.link.heal();
      await eventually(() => expect(seen.at(-1)).not.toHaveProperty('stale'));
      watching.unsubscribe();
    });

    it('is told where there is no group', async () => {
      await expect(admin.status()).rejects.toMatchObject({ code: 'NO_SUCH_GROUP' });
      await expect(admin.setTotal(3)).rejects.toMatchObject({ code: 'NO_SUCH_GROUP' });
      await expect(admin.reshard()).rejects.toMatchObject({ code: 'NO_SUCH_GROUP' });
    });

    it('reads the history, newest first', async () => {
      await group.start('a');
      await settled();
      await group.start('b');
      await eventually(async () => {
        const [newest, oldest] = await admin.history();
        expect(newest!.why.joined).toEqual(['b']);
        expect(oldest!.why.joined).toEqual(['a']);
      });
      expect(await admin.history(1)).toHaveLength(1);
    });

    it('learns what would happen, which then happens, and until then nothing does', async () => {
      await group.startAll('a', 'b');
      await settled();
      const before = await admin.status();
      const prediction = await admin.plan({ join: [{ id: 'c' }] });
      expect((await admin.status()).epoch).toBe(before.epoch);
      await group.start('c');
      await settled();
      for (const { id, after } of prediction.loads) expect(group.items(id)).toHaveLength(after);
      for (const { item, to } of prediction.moved) expect(group.items(to)).toContain(item);
    });

    it('may ask what a further instance with some weight would get', async () => {
      await group.start('a');
      await settled();
      const { loads } = await admin.plan({ join: [{ id: 'b' }], weights: { b: 3 }, total: 8 });
      expect(loads).toEqual([
        { id: 'a', before: 4, after: 2 },
        { id: 'b', before: 0, after: 6 },
      ]);
      await expect(admin.plan({ weights: { nobody: 3 } })).rejects.toThrow('no instance "nobody"');
    });
  });

  describe('who changes something', () => {
    beforeEach(async () => {
      await group.startAll('a', 'b');
      await settled();
    });

    it('has it done', async () => {
      expect(await admin.setTotal(6)).toMatchObject({ changed: true, configuration: { total: 6 } });
      await eventually(() => group.items('a').length === 3 && group.items('b').length === 3);
      expect(await admin.setTotal(6)).toMatchObject({ changed: false });
    });

    it('is asked before, and shown what it would do', async () => {
      const confirm = jest.fn<(preview: ChangePreview) => boolean>(() => false);
      const result = await admin.drain('a', { confirm });
      expect(result.changed).toBe(false);
      expect(confirm).toHaveBeenCalledWith(
        expect.objectContaining({ prediction: expect.objectContaining({ moves: 2 }) }),
      );
      expect((await admin.status()).configuration!.instances).toEqual({});
    });

    it('is told if somebody else did too, and nothing is lost', async () => {
      const other = group.admin();
      const first = admin.setTotal(6, {
        confirm: async () => (await other.cordon('a')).changed,
      });
      await expect(first).rejects.toMatchObject({ code: 'CONFLICT' });
      expect((await admin.status()).configuration).toMatchObject({
        total: 4,
        instances: { a: { cordoned: true } },
      });
    });

    it('knows that it was done where the answer got lost', async () => {
      const registry = group.registry();
      const set = registry.set.bind(registry);
      jest.spyOn(registry, 'set').mockImplementationOnce(async (...args) => {
        await set(...args);
        throw new ConnectionLostError({ operation: 'set', path: CONFIG });
      });
      const result = await group.admin(registry).pause();
      expect(result.changed).toBe(true);
      expect((await admin.status()).configuration!.paused).toBe(true);
    });

    it.each<[string, (admin: ShardingAdmin) => Promise<unknown>, RegExp]>([
      ['a total of 0', (one) => one.setTotal(0), /total is 0, expected a whole number from 1/],
      ['half an item', (one) => one.setTotal(1.5), /total is 1.5/],
      ['a total over the limit', (one) => one.setTotal(1_000_001), /from 1 to 1000000/],
      ['no number', (one) => one.setTotal(Number.NaN), /total is NaN/],
      ['a negative weight', (one) => one.setWeight({ instance: 'a' }, -1), /weight is -1/],
      ['an item that weighs nothing', (one) => one.setWeight({ items: [1] }, 0), /greater than 0/],
      [
        'a pin to nobody',
        (one) => one.pin([1], 'nobody'),
        /no instance "nobody": registered are a, b/,
      ],
      ['an unknown instance', (one) => one.drain('nobody'), /no instance "nobody"/],
      ['taking back what was never said', (one) => one.uncordon('nobody'), /no instance "nobody"/],
      ['an unknown strategy', (one) => one.setStrategy('foo'), /"foo" is not built in/],
      ['an item that is not there', (one) => one.setParam([9], 1), /no item 9: .* from 0 to 3/],
      ['a limit of nothing', (one) => one.setLimit(0), /maxMoves is 0/],
    ])('is refused %s', async (_, wish, message) => {
      const { data } = await readConfig();
      await expect(wish(admin)).rejects.toThrow(message);
      expect((await readConfig()).data.equals(data)).toBe(true);
    });

    it('may insist, where it knows better', async () => {
      const { changed, warnings } = await admin.setStrategy('ours', { force: true });
      expect(changed).toBe(true);
      expect(warnings).toEqual([expect.stringContaining('"ours" is not built in')]);
    });

    it('is warned of what nobody can hold; the rest runs', async () => {
      const { changed, warnings } = await admin.setNeeds([1], { zone: 'x' });
      expect(changed).toBe(true);
      expect(warnings).toEqual([
        'no instance that may be given items has zone=x, which is needed by 1',
      ]);
      await eventually(async () => {
        const { waits, problems } = await admin.status();
        expect(waits).toEqual([{ items: [1], reason: 'needs', why: 'no instance has zone=x' }]);
        expect(problems).toEqual([expect.objectContaining({ code: 'unplaced' })]);
      });
      expect(group.items('a').length + group.items('b').length).toBe(3);
    });

    it('is told that it may have been done where no answer ever comes', async () => {
      const write = jest.spyOn(SureWrites.prototype, 'set');
      write.mockRejectedValueOnce(new TimedOutError({ operation: 'set', path: CONFIG }, 10_000));
      const told = admin.pause();
      await expect(told).rejects.toMatchObject({ code: 'UNCERTAIN' });
      await expect(told).rejects.toThrow('may have been written');
      expect(write.mock.lastCall![3]).toEqual({ timeout: 10_000 });
      write.mockRestore();
    });

    it('is warned when the last instance goes', async () => {
      await admin.drain('a');
      const { warnings } = await admin.disable({ instance: 'b' });
      expect(warnings).toEqual(['no instance is left that may be given anything']);
    });

    it('drains an instance, and hears when it is empty', async () => {
      const [item] = group.items('a');
      const gate = group.members.get('a')!.hooks.hold(`released ${item}`);
      await admin.drain('a');
      await eventually(async () => {
        const { waits } = await admin.status();
        expect(waits).toEqual([
          expect.objectContaining({ from: 'a', to: 'b', reason: 'draining' }),
        ]);
      });
      const heard: number[] = [];
      const empty = admin.whenEmpty('a', {}, ({ items }) => heard.push(items.length));
      gate.resolve();
      expect(await empty).toEqual({ instance: 'a', items: [] });
      expect(heard.at(-1)).toBe(0);
      expect(group.items('b')).toHaveLength(4);
      await admin.undrain('a');
      await eventually(() => group.items('a').length === 2);
    });

    it('hears what is left where a drain takes too long', async () => {
      await admin.pause();
      await eventually(async () => (await admin.status()).configuration?.paused === true);
      await admin.drain('a');
      const progress = await admin.whenEmpty('a', { timeout: 50 });
      expect(progress.items).toHaveLength(2);
      expect(progress.why).toBe('the group is paused');
    });

    it('does not take what the leader shows to tools for a request', async () => {
      const leader = group.members.get('a')!;
      const { data } = await leader.registry.get('/group/instances/a');
      const { incarnation } = JSON.parse(data.toString()) as { incarnation: string };
      const necessary = '/group/leader/sharding/necessary';
      // The leader deletes it when it has seen it, so it is shown to the reader alone.
      const registry = group.registry();
      await registry.connect();
      const get = registry.get.bind(registry);
      const read = jest.spyOn(registry, 'get').mockImplementation(async (path, options) => {
        if (path !== necessary) return get(path, options);
        const { stat } = await get(CONFIG, options);
        return { data: Buffer.from(incarnation), stat };
      });
      expect((await readSnapshot(registry, systemEnvironment(), 'group')).isAsked).toBe(false);
      read.mockImplementation((path, options) => get(path === necessary ? CONFIG : path, options));
      expect((await readSnapshot(registry, systemEnvironment(), 'group')).isAsked).toBe(true);
    });

    it('has a reshard done', async () => {
      const { epoch } = await admin.status();
      await admin.reshard();
      await eventually(async () => ((await admin.status()).epoch ?? 0) > epoch!);
    });

    it('cannot change what it cannot read', async () => {
      const registry = group.registry();
      await registry.connect();
      await registry.set(CONFIG, Buffer.from('{'), ANY_VERSION);
      await expect(admin.setTotal(6)).rejects.toThrow('cannot be read (it is not JSON)');
      expect((await admin.doctor())[0]).toMatchObject({
        code: 'unreadable-config',
        severity: 'error',
      });
    });

    async function readConfig() {
      const registry = group.registry();
      await registry.connect();
      return registry.get(CONFIG);
    }
  });

  describe('who removes a namespace', () => {
    it('cannot while somebody lives in it', async () => {
      await group.start('a');
      await expect(admin.remove()).rejects.toThrow('"group" is lived in by a');
    });

    it('leaves nothing of it, and all of a namespace inside of it', async () => {
      await group.start('a');
      await group.stop('a');
      const registry = group.registry();
      await registry.connect();
      const inner = '/group/inner/config';
      await registry.create(inner, encodeConfig(newConfig(1, 'sticky')), { parents: true });
      expect(await admin.remove({ confirm: () => false })).toBe(false);
      expect(await registry.exists(CONFIG)).toBeDefined();
      expect(await admin.remove()).toBe(true);
      expect(await registry.children('/group')).toEqual(['inner']);
      await expect(admin.remove()).rejects.toMatchObject({ code: 'NO_SUCH_GROUP' });
    });

    it('removes the root too where nothing else is in it', async () => {
      await group.start('a');
      await group.stop('a');
      await admin.remove();
      const registry = group.registry();
      await registry.connect();
      expect(await registry.exists('/group')).toBeUndefined();
    });

    it.each(['/group/sharding', '/group/config', '/group/leader/election'])(
      'leaves those in peace who come before %s is deleted',
      async (late) => {
        await group.start('a');
        await group.stop('a');
        const registry = group.registry();
        const removing = registry.delete.bind(registry);
        const remover = group.admin(registry);
        jest.spyOn(registry, 'delete').mockImplementation(async (path, ...args) => {
          if (path === late && !group.members.has('b')) await group.start('b');
          return removing(path, ...args);
        });
        await expect(remover.remove()).rejects.toMatchObject({ code: 'REFUSED' });
        const { coordinator } = group.members.get('b')!;
        await eventually(() => coordinator.isLeader && coordinator.items.length === 4);
        expect(await registry.children('/group/leader/election/latch')).toHaveLength(1);
        expect(await registry.exists('/group/sharding')).toBeDefined();
      },
    );

    it('waits out the leases of those that crashed', async () => {
      const registry = group.registry();
      await registry.connect();
      await registry.create(CONFIG, encodeConfig(newConfig(1, 'sticky')), { parents: true });
      const plan = planOf('a1:5');
      const members = plan.members.map((one) => ({ ...one, lease: 100 }));
      await registry.create('/group/sharding', encodePlan({ ...plan, members }));
      const confirm = jest.fn((_wait: number) => true);
      const began = performance.now();
      expect(await admin.remove({ confirm })).toBe(true);
      expect(confirm).toHaveBeenCalledWith(600);
      expect(performance.now() - began).toBeGreaterThan(590);
    });

    it('stops if somebody comes meanwhile', async () => {
      await group.start('a');
      await group.stop('a');
      const registry = group.registry();
      const remover = group.admin(registry);
      const removing = registry.delete.bind(registry);
      jest.spyOn(registry, 'delete').mockImplementationOnce(async (...args) => {
        await group.start('b');
        return removing(...args);
      });
      await expect(remover.remove()).rejects.toThrow('Somebody came');
      await eventually(() => group.items('b').length === 4);
    });
  });
});
