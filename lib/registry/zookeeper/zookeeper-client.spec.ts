import { describe, expect, it } from '@jest/globals';
import { loadClientFactory } from './zookeeper-client.js';

const failing = (message: string, code?: string) =>
  loadClientFactory(() => Promise.reject(Object.assign(new Error(message), { code })));

describe('loading the native client', () => {
  it('says how to install it', async () => {
    const absent = failing("Cannot find package 'zookeeper'", 'ERR_MODULE_NOT_FOUND');
    await expect(absent).rejects.toMatchObject({ code: 'CLIENT_MISSING' });
    await expect(absent).rejects.toThrow(/not installed: run `npm install zookeeper`/);
    await expect(absent).rejects.toThrow(/"allowScripts": \{ "zookeeper": true \}/);
  });

  it('says how to build it', async () => {
    const unbuilt = failing('No native build was found for platform=linux\n  loaded from: …');
    await expect(unbuilt).rejects.toMatchObject({ code: 'CLIENT_MISSING' });
    await expect(unbuilt).rejects.toThrow(/not built: run `npm rebuild zookeeper`/);
    await expect(unbuilt).rejects.toThrow(/"allowScripts"/);
  });

  it('is refused in a worker thread', async () => {
    const refused = loadClientFactory(() => Promise.resolve({}), false);
    await expect(refused).rejects.toThrow(/main thread only.*hand the work to workers/);
  });

  it('passes on any other reason', async () => {
    const broken = failing("Cannot find module 'nan'", 'MODULE_NOT_FOUND');
    await expect(broken).rejects.toThrow(/cannot be loaded \(Cannot find module 'nan'\)/);
    await expect(broken).rejects.toHaveProperty('cause.message', "Cannot find module 'nan'");
  });

  it('hands over what keeps the client quiet and its session alive', async () => {
    class Client {
      constructor(readonly config: object) {}
    }
    const factory = await loadClientFactory(() => Promise.resolve({ default: Client }));
    const session = { id: '1', password: 'AB' };
    const address = '10.0.0.1:2181';
    expect(factory({ address, sessionTimeout: 5, session })).toHaveProperty('config', {
      connect: address,
      timeout: 5,
      debug_level: 0,
      response_counter_limit: 2 ** 31 - 1,
      client_id: '1',
      client_password: 'AB',
    });
    const fresh = factory({ address, sessionTimeout: 5, session: undefined });
    expect(fresh).not.toHaveProperty('config.client_id');
  });
});
