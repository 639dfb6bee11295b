import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Log, systemEnvironment } from '../registry/environment.js';
import { MemoryCluster } from '../registry/memory/index.js';
import { Coordinator } from './coordinator.js';
import type { CoordinatorHooks, CoordinatorOptions } from './coordinator.types.js';

const nothing = async (): Promise<void> => {};
const hooks: CoordinatorHooks = {
  leader: nothing,
  leaderLost: nothing,
  shardingStarted: nothing,
  shardingCompleted: nothing,
  shardAcquired: nothing,
  shardReleased: nothing,
};

const optionsOf = (id: string): CoordinatorOptions => ({
  namespace: 'group',
  instance: { id, ip: '10.0.0.1', pid: 1, weight: 1, labels: {} },
  total: 12,
  strategy: undefined,
  strategies: {},
  onConfigMismatch: 'keep',
  lease: { duration: undefined, margin: undefined },
  startup: { wait: true, timeout: 10_000 },
  drainTimeout: 2_000,
  rebalanceDelay: 0,
  rejoin: { window: 0, lends: false },
  seedView: false,
});

describe('instances that leave at the same time', () => {
  // Who has given its place in line up still hears of the plans of the others: no reason to stand again.
  it.each([1, 2, 3, 4, 5])('leave no latch behind and log no failure (%i)', async () => {
    const logged: string[] = [];
    const keep = (message: string): void => void logged.push(message);
    const log: Log = { debug: () => {}, log: () => {}, warn: keep, error: keep };
    const cluster = new MemoryCluster({ latency: () => Math.random() * 4 });
    const registries = Array.from({ length: 3 }, () =>
      cluster.registry({ environment: systemEnvironment(log) }),
    );
    const coordinators: Coordinator[] = [];
    for (const [index, registry] of registries.entries()) {
      const environment = systemEnvironment(log);
      const options = optionsOf(`instance-${index}`);
      const coordinator = new Coordinator(registry, options, hooks, environment);
      await coordinator.start();
      coordinators.push(coordinator);
    }
    await Promise.all(coordinators.map((coordinator) => coordinator.stop()));
    // The sessions live on, as they do where another registration uses the connection.
    expect(await registries[0]!.children('/group/leader/election/latch')).toEqual([]);
    await Promise.all(registries.map((registry) => registry.close()));
    // Whoever still waited for something hears of the end now.
    await nextTurn();
    expect(logged).toEqual([]);
  });
});
