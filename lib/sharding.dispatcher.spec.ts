import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { deferred } from '../test/kit/eventually.js';
import { KeptLogs } from '../test/kit/sharding-app.js';
import type { Shard } from './interfaces/sharding-values.interface.js';
import { silentLog } from './registry/environment.js';
import { HookDispatcher } from './sharding.dispatcher.js';

const shardOn = (signal: AbortSignal): Shard => ({
  item: 3,
  token: 7n,
  total: 8,
  parameter: undefined,
  signal,
  valid: true,
});

function dispatcher() {
  const logs = new KeptLogs();
  const log = {
    ...silentLog,
    error: (message: string, stack?: string) => logs.error(message, stack, 'Hooks'),
  };
  return { hooks: new HookDispatcher(log), logs };
}

describe('the hook dispatcher', () => {
  it('runs all listeners at the same time and resolves when the last has ended', async () => {
    const { hooks } = dispatcher();
    const [first, second] = [deferred(), deferred()];
    const begun: string[] = [];
    for (const [label, { promise }] of [['a', first] as const, ['b', second] as const]) {
      const run = () => {
        begun.push(label);
        return promise;
      };
      hooks.add('leaderLost', { label, decorator: '@OnLeaderLost', run });
    }
    let ended = false;
    const all = hooks.leaderLost().then(() => (ended = true));
    expect(begun).toEqual(['a', 'b']);
    second.resolve();
    await nextTurn();
    expect(ended).toBe(false);
    first.resolve();
    await all;
  });

  it('logs what a listener throws with its stack and goes on with the others', async () => {
    const { hooks, logs } = dispatcher();
    let told = 0;
    const decorator = '@OnShardReleased';
    hooks.add('shardReleased', {
      label: 'Worker@release',
      decorator,
      run: () => {
        throw new Error('no such file');
      },
    });
    hooks.add('shardReleased', { label: 'A@b', decorator, run: () => (told += 1) });
    hooks.add('shardReleased', {
      label: 'Odd@one',
      decorator,
      run: () => Promise.reject('text'),
    });
    await hooks.shardReleased({ item: 1, token: 1n, reason: 'drain' });
    expect(told).toBe(1);
    expect(logs.lines).toEqual([
      'error Hooks: @OnShardReleased on Worker@release failed: no such file',
      'error Hooks: @OnShardReleased on Odd@one failed: text',
    ]);
    expect(logs.stacks[0]).toContain('sharding.dispatcher.spec');
  });

  it('takes an abort for the end of a worker, but only once its shard has to be let go', async () => {
    const { hooks, logs } = dispatcher();
    const controller = new AbortController();
    hooks.add('shardAcquired', {
      label: 'Worker@work',
      decorator: '@OnShardAcquired',
      run: ({ signal }) => sleep(60_000, undefined, { signal }),
    });
    hooks.add('shardAcquired', {
      label: 'Worker@other',
      decorator: '@OnShardAcquired',
      run: () => Promise.reject(Object.assign(new Error('too early'), { name: 'AbortError' })),
    });
    const workers = hooks.shardAcquired(shardOn(controller.signal));
    await nextTurn();
    controller.abort();
    await workers;
    expect(logs.lines).toEqual(['error Hooks: @OnShardAcquired on Worker@other failed: too early']);
  });
});
