import { describe, expect, it } from '@jest/globals';
import { deferred } from '../../../test/kit/eventually.js';
import { type Environment, silentLog, systemEnvironment } from '../environment.js';
import { parseConnectString } from './connect-string.js';
import { type Lookup, ServerAddresses } from './server-addresses.js';

const noLookup: Lookup = () => Promise.reject(new Error('not to be asked'));

function addressesOf(
  connect: string,
  lookup: Lookup = noLookup,
  environment: Environment = systemEnvironment(),
): ServerAddresses {
  return new ServerAddresses(parseConnectString(connect).servers, environment, lookup);
}

/** Timers that fire when told to. */
function handTimed() {
  const timers = new Set<() => void>();
  const environment: Environment = {
    ...systemEnvironment(silentLog),
    clock: {
      monotonic: () => 0,
      wall: () => 0,
      setTimer: (callback) => {
        timers.add(callback);
        return { cancel: () => timers.delete(callback) };
      },
    },
  };
  return { environment, timers, fire: () => timers.forEach((callback) => callback()) };
}

describe('server addresses', () => {
  it('that are numeric are not looked up, and IPv6 loses its brackets', async () => {
    const addresses = addressesOf('10.0.0.1:1,[fd00::3]:2');
    expect(new Set(await addresses.resolve())).toEqual(new Set(['10.0.0.1:1', 'fd00::3:2']));
    expect(addresses.describe()).toBe('10.0.0.1:1, [fd00::3]:2');
  });

  it('are those of all names, each once', async () => {
    const lookup: Lookup = async (host) =>
      host === 'one' ? ['10.0.0.1', '10.0.0.2'] : ['10.0.0.2', '::1'];
    const addresses = addressesOf('one,two', lookup);
    expect((await addresses.resolve()).toSorted()).toEqual([
      '10.0.0.1:2181',
      '10.0.0.2:2181',
      '::1:2181',
    ]);
  });

  it('are shuffled by the given randomness, once', async () => {
    const environment = systemEnvironment();
    const random = { ...environment.random, fraction: () => 0 };
    const addresses = addressesOf('10.0.0.1,10.0.0.2,10.0.0.3', noLookup, {
      ...environment,
      random,
    });
    const first = await addresses.resolve();
    expect(first).toEqual(['10.0.0.2:2181', '10.0.0.3:2181', '10.0.0.1:2181']);
    expect(await addresses.resolve()).toEqual(first);
    expect(addresses.current).toEqual(first);
  });

  it('follow what the name server says', async () => {
    let answer = ['10.0.0.1', '10.0.0.2'];
    const addresses = addressesOf('zk', async () => answer);
    await addresses.resolve();
    answer = ['10.0.0.2', '10.0.0.3'];
    expect(await addresses.resolve()).toEqual(['10.0.0.2:2181', '10.0.0.3:2181']);
  });

  it('stay known when the name server fails, which is told', async () => {
    let isDown = false;
    const addresses = addressesOf('zk', async () => {
      if (isDown) throw Object.assign(new Error(), { code: 'EAI_AGAIN' });
      return ['10.0.0.1'];
    });
    await addresses.resolve();
    isDown = true;
    expect(await addresses.resolve()).toEqual(['10.0.0.1:2181']);
    expect(addresses.describe()).toBe(
      'zk:2181 (10.0.0.1:2181; the name cannot be resolved: EAI_AGAIN)',
    );
  });

  it('of a name that does not exist are none', async () => {
    const addresses = addressesOf('none,10.0.0.1', async () => []);
    expect(await addresses.resolve()).toEqual(['10.0.0.1:2181']);
    expect(addresses.describe()).toBe(
      'none:2181 (the name cannot be resolved: ENOTFOUND), 10.0.0.1:2181',
    );
  });

  it('do not wait forever, and ask once however often they are resolved', async () => {
    const answer = deferred<string[]>();
    let lookups = 0;
    const { environment, fire, timers } = handTimed();
    const addresses = addressesOf(
      'zk',
      () => {
        lookups += 1;
        return answer.promise;
      },
      environment,
    );
    const resolved = [addresses.resolve(), addresses.resolve()];
    fire();
    expect(await Promise.all(resolved)).toEqual([[], []]);
    expect(addresses.describe()).toBe('zk:2181 (the name server does not answer)');
    const third = addresses.resolve();
    answer.resolve(['10.0.0.1']);
    expect(await third).toEqual(['10.0.0.1:2181']);
    expect(lookups).toBe(1);
    expect(addresses.describe()).toBe('zk:2181 (10.0.0.1:2181)');
    timers.clear();
  });
});
