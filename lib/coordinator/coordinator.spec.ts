import { beforeEach, describe, expect, it } from '@jest/globals';
import { coordinatorOptions, RecordingHooks } from '../../test/kit/coordinators.js';
import { MemoryWorld } from '../../test/kit/memory-world.js';
import type { MemoryRegistry } from '../registry/memory/index.js';
import { Coordinator } from './coordinator.js';
import type { CoordinatorOptions } from './coordinator.types.js';

let world: MemoryWorld;
let logged: string[];
let registry: MemoryRegistry;
let coordinator: Coordinator;

function make(change: Partial<CoordinatorOptions> = {}): void {
  logged = [];
  const environment = world.environment(logged);
  registry = world.cluster.registry({ environment });
  const options = coordinatorOptions(change);
  coordinator = new Coordinator(registry, options, new RecordingHooks(), environment);
}

beforeEach(() => {
  world = new MemoryWorld();
  make();
});

/** What becomes of a promise within some time. */
async function ended<T>(promise: Promise<T>, limit = 60_000): Promise<T> {
  let isEnded = false;
  promise.catch(() => {}).finally(() => (isEnded = true));
  await world.time.runUntil(() => isEnded, limit);
  return promise;
}

async function holding(): Promise<void> {
  await ended(coordinator.start());
  await world.time.runUntil(() => coordinator.items.length === 4);
}

const registration = async (): Promise<{ leaving?: boolean }> =>
  JSON.parse((await world.read('/group/instances/a'))!) as { leaving?: boolean };

describe('an instance that cannot reach the store', () => {
  it('drains in bounded time, and the group hears of it later', async () => {
    await holding();
    registry.link.cut();
    await ended(coordinator.drain(), 3_500);
    expect([coordinator.items, registry.session.state]).toEqual([[], 'suspended']);
    expect(logged.filter((line) => line.includes('drain()'))).toEqual([
      'warn The group has not heard of drain() after 3000 ms; it will later',
    ]);
    registry.link.heal();
    await world.time.runUntil(() => registry.session.state === 'connected');
    await world.time.advance(1_000);
    expect(await registration()).toMatchObject({ leaving: true });
  });

  it('resumes in bounded time', async () => {
    await holding();
    await ended(coordinator.drain());
    registry.link.cut();
    await ended(coordinator.resume(), 3_500);
    registry.link.heal();
    await world.time.runUntil(() => coordinator.items.length === 4, 30_000);
  });

  it('shows an empty assignment once its lease has run out', async () => {
    await holding();
    const { assignment } = coordinator;
    expect([...assignment.tokens.keys()]).toEqual([0, 1, 2, 3]);
    // A suspended machine: time has passed, and nothing in this process has run since.
    world.clock.stepWall(6_000);
    expect(coordinator.assignment).toEqual({
      epoch: assignment.epoch,
      total: 4,
      items: [],
      added: [],
      removed: [],
      tokens: new Map(),
    });
  });
});
