import { beforeEach, describe, expect, it } from '@jest/globals';
import { Recording } from '../../test/conformance/recording.js';
import { coordinatorOptions } from '../../test/kit/coordinators.js';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { NoAuthError } from '../registry/registry.errors.js';
import { ConfigStore } from './config-store.js';
import { ConfigMismatchError } from './coordinator.errors.js';
import type { CoordinatorOptions } from './coordinator.types.js';
import { encodeConfig, type GroupConfig, newConfig } from './group-config.js';

const PATH = '/group/config';

let world: MemoryWorld;
let client: WorldClient;

beforeEach(async () => {
  world = new MemoryWorld();
  client = await world.client();
});

async function open(
  change: Partial<CoordinatorOptions> = {},
  isFirstTime = true,
): Promise<ConfigStore> {
  const { registry, environment, session } = client;
  const store = new ConfigStore(registry, environment, PATH, coordinatorOptions(change));
  await store.open(isFirstTime, { session });
  await world.time.settle();
  return store;
}

const put = async (config: GroupConfig): Promise<void> => {
  await world.put(PATH, encodeConfig(config).toString());
  await world.time.settle();
};

const stored = async (): Promise<unknown> => JSON.parse((await world.read(PATH))!);

describe('ConfigStore', () => {
  it('makes the configuration from our options if there is none', async () => {
    const store = await open({ total: 7 });
    expect(await stored()).toEqual({ version: 1, total: 7, strategy: 'sticky' });
    expect(store.config).toEqual(newConfig(7, 'sticky'));
    expect(client.logged).toEqual([]);
  });

  it.each([
    ['answer', () => client.registry.link.loseNextAnswer()],
    ['request', () => client.registry.link.loseNextRequest()],
  ])('makes it though an %s is lost', async (_, disturb) => {
    disturb();
    const store = await open({ total: 7 });
    expect(store.config?.total).toBe(7);
  });

  it('agrees with another that makes it at the same time', async () => {
    const others = await Promise.all(['b', 'c', 'd'].map((name) => world.client(name)));
    const stores = others.map(
      ({ registry, environment }, index) =>
        new ConfigStore(registry, environment, PATH, coordinatorOptions({ total: 10 + index })),
    );
    await Promise.all(stores.map((store) => store.open(true, {})));
    await world.time.settle();
    const totals = stores.map(({ config }) => config?.total);
    expect(new Set(totals).size).toBe(1);
    expect(await stored()).toMatchObject({ total: totals[0] });
  });

  it('follows its changes, and gives the current one first', async () => {
    const store = await open({ total: 7 });
    const seen = new Recording(store.config$);
    await put(newConfig(9, 'sticky'));
    await put(newConfig('instances', 'sticky'));
    expect(seen.values.map(({ total }) => total)).toEqual([7, 9, 'instances']);
  });

  it('does not tell of a write that changes nothing', async () => {
    const store = await open({ total: 7 });
    const seen = new Recording(store.config$);
    await put(newConfig(7, 'sticky'));
    expect(seen.values).toHaveLength(1);
  });

  it.each(['garbage', '{"version":1,"total":0,"strategy":"sticky"}', '{"version":2}', ''])(
    'keeps to the last good one when it finds %j, and says so',
    async (text) => {
      const store = await open({ total: 7 });
      await world.put(PATH, text);
      await world.time.settle();
      expect(store.config?.total).toBe(7);
      expect(client.logged).toHaveLength(1);
      expect(client.logged[0]).toMatch(
        /^error The configuration in \/group\/config cannot be used: .*; the last good one stands$/,
      );
      await put(newConfig(9, 'sticky'));
      expect(store.config?.total).toBe(9);
    },
  );

  it('keeps to the last good one when it is deleted', async () => {
    const store = await open({ total: 7 });
    await world.remove(PATH);
    await world.time.settle();
    expect(store.config?.total).toBe(7);
  });

  it('has none while there is only garbage', async () => {
    await world.put(PATH, 'garbage');
    const store = await open({ total: 7, onConfigMismatch: 'keep' });
    expect(store.config).toBeUndefined();
    expect(client.logged[0]).toMatch(/cannot be used: it is not JSON$/);
    await put(newConfig(9, 'sticky'));
    expect(store.config?.total).toBe(9);
  });

  it('ends with its close', async () => {
    const store = await open();
    store.close();
    expect(client.registry.viewCount).toBe(0);
  });

  describe('that differs from our options', () => {
    beforeEach(() => put(newConfig(9, 'rendezvous')));

    it('is kept, with a warning that names both', async () => {
      const store = await open({ total: 7, onConfigMismatch: 'keep' });
      expect(store.config).toEqual(newConfig(9, 'rendezvous'));
      expect(client.logged).toEqual([
        'warn The shared configuration is kept: total is 9 in the group and 7 in the options. ' +
          "Set onConfigMismatch: 'overwrite' to change it",
      ]);
    });

    it('is an error where that is asked for, that names node, values and remedy', async () => {
      const failed = open({ total: 7, strategy: 'sticky', onConfigMismatch: 'fail' });
      await expect(failed).rejects.toThrow(ConfigMismatchError);
      await expect(failed).rejects.toThrow(
        /\/group\/config differs .*total is 9 in the group and 7 in the options, strategy is "rendezvous" in the group and "sticky" in the options.*onConfigMismatch/,
      );
      expect(await stored()).toMatchObject({ total: 9 });
    });

    it('is overwritten where that is asked for, but only what was said', async () => {
      const store = await open({ total: 7, onConfigMismatch: 'overwrite' });
      expect(await stored()).toEqual({ version: 1, total: 7, strategy: 'rendezvous' });
      expect(store.config).toEqual(newConfig(7, 'rendezvous'));
    });

    it('is compared again when somebody else writes in between', async () => {
      const { registry } = client;
      const set = registry.set.bind(registry);
      let isFirst = true;
      registry.set = async (...args) => {
        if (isFirst) await put(newConfig(11, 'other'));
        isFirst = false;
        return set(...args);
      };
      await open({ total: 7, onConfigMismatch: 'overwrite' });
      expect(await stored()).toEqual({ version: 1, total: 7, strategy: 'other' });
    });

    it('is not compared on a reconnect', async () => {
      for (const onConfigMismatch of ['fail', 'overwrite', 'keep'] as const) {
        const store = await open({ total: 7, onConfigMismatch }, false);
        expect(store.config?.total).toBe(9);
      }
      expect(client.logged).toEqual([]);
    });

    it('is fine where it does not differ in what was said', async () => {
      await open({ total: 9, strategy: undefined, onConfigMismatch: 'fail' });
      expect(client.logged).toEqual([]);
    });
  });

  it('replaces garbage where overwriting is asked for', async () => {
    await world.put(PATH, 'garbage');
    const store = await open({ total: 7, onConfigMismatch: 'overwrite' });
    expect(store.config).toEqual(newConfig(7, 'sticky'));
  });

  describe('that cannot be read', () => {
    const OTHERS = [
      '{"version":2,"total":9,"pins":{"1":"a"}}',
      '{"version":1,"total":9,"strategy":"sticky","pasued":true}',
    ];

    it.each(OTHERS)('is never written over: %s', async (text) => {
      await world.put(PATH, text);
      const store = await open({ total: 7, onConfigMismatch: 'overwrite' });
      expect([await world.read(PATH), store.config]).toEqual([text, undefined]);
      expect(client.logged).toContainEqual(
        expect.stringMatching(
          /^warn .*\/group\/config cannot be used, and is left as it is: the document has the unknown key/,
        ),
      );
    });

    it.each([...OTHERS, 'garbage'])('is an error where a mismatch is: %s', async (text) => {
      await world.put(PATH, text);
      const failed = open({ total: 7, onConfigMismatch: 'fail' });
      await expect(failed).rejects.toThrow(ConfigMismatchError);
      await expect(failed).rejects.toThrow(/\/group\/config cannot be used/);
    });

    it('is not said to differ where what is shared is kept', async () => {
      await world.put(PATH, OTHERS[0]!);
      await open({ total: 7, onConfigMismatch: 'keep' });
      expect(client.logged.join()).not.toContain('undefined');
    });
  });

  it('changes only the keys of the options where it overwrites', async () => {
    const config = {
      ...newConfig(9, 'average'),
      items: { 3: { pin: 'b' } },
      instances: { c: { drained: true } },
      paused: true,
    };
    await put(config);
    const store = await open({ total: 7, onConfigMismatch: 'overwrite' });
    expect(store.config).toEqual({ ...config, total: 7 });
  });

  it('is put back when it is deleted under a group', async () => {
    await world.put('/group/instances/a', '');
    await open({ total: 7 });
    await put({ ...newConfig(9, 'average'), paused: true });
    await world.remove(PATH);
    await world.time.settle();
    expect(await stored()).toEqual({ version: 1, total: 9, strategy: 'average', paused: true });
  });

  it('stays gone when the group is removed', async () => {
    await open({ total: 7 });
    await world.remove(PATH);
    await world.time.settle();
    expect(await world.read(PATH)).toBeUndefined();
  });

  it('is followed again after access to it was denied', async () => {
    const { registry } = client;
    const send = registry.link.send.bind(registry.link);
    const store = await open({ total: 7 });
    const refusal = new NoAuthError({ operation: 'get', path: PATH });
    registry.link.send = (request) =>
      request.command.kind === 'get' ? request.answer.reject(refusal) : send(request);
    await put(newConfig(9, 'sticky'));
    registry.link.send = send;
    expect(store.config?.total).toBe(7);
    await world.time.runUntil(() => store.config?.total === 9, 2_000);
  });
});
