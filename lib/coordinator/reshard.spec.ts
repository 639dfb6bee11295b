import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { coordinatorOptions, RecordingHooks } from '../../test/kit/coordinators.js';
import { systemEnvironment } from '../registry/environment.js';
import { MemoryCluster, type MemoryRegistry } from '../registry/memory/index.js';
import { ANY_VERSION } from '../registry/registry.js';
import { ConnectionLostError } from '../registry/registry.errors.js';
import { Coordinator } from './coordinator.js';

const NECESSARY = '/group/leader/sharding/necessary';

describe('a request for a reshard', () => {
  let registry: MemoryRegistry;
  let coordinator: Coordinator;

  beforeEach(async () => {
    const environment = systemEnvironment();
    registry = new MemoryCluster().registry({ environment });
    await registry.connect();
    coordinator = new Coordinator(
      registry,
      coordinatorOptions(),
      new RecordingHooks(),
      environment,
    );
  });

  const request = async (): Promise<string> => (await registry.get(NECESSARY)).data.toString();

  it('is stored', async () => {
    await coordinator.reshard();
    expect(await request()).toBe('');
  });

  it('takes the place of what the leader shows to tools', async () => {
    await registry.create(NECESSARY, Buffer.from('shown'), { parents: true });
    await coordinator.reshard();
    expect(await request()).toBe('');
  });

  it('is stored too where what the leader showed is deleted meanwhile', async () => {
    await registry.create(NECESSARY, Buffer.from('shown'), { parents: true });
    const set = registry.set.bind(registry);
    jest.spyOn(registry, 'set').mockImplementationOnce(async (...args) => {
      await registry.delete(NECESSARY, ANY_VERSION);
      return set(...args);
    });
    await coordinator.reshard();
    expect(await request()).toBe('');
  });

  it('that could not be stored is not said to be', async () => {
    await registry.create(NECESSARY, Buffer.from('shown'), { parents: true });
    const lost = new ConnectionLostError({ operation: 'set', path: NECESSARY });
    jest.spyOn(registry, 'set').mockRejectedValueOnce(lost);
    await expect(coordinator.reshard()).rejects.toBe(lost);
  });
});
