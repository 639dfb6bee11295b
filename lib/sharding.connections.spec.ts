import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { uniqueNamespace } from '../test/kit/namespace.js';
import { sharedConnect } from '../test/kit/shared-zookeeper.js';
import { systemEnvironment } from './registry/environment.js';
import { ShardingConnections } from './sharding.connections.js';
import type { RegistrySpec } from './sharding.options.js';

Logger.overrideLogger(false);

describe('the connections of an application', () => {
  it('create a missing chroot for members only, also where an observer shares one', async () => {
    const connections = new ShardingConnections(systemEnvironment());
    const chroot = `/${uniqueNamespace('connections')}`;
    const options = { connect: sharedConnect() + chroot, connectTimeout: 500 };
    const spec: RegistrySpec = { type: 'zookeeper', key: 'same', options };

    const observer = connections.acquire(spec, 'observer');
    await expect(observer.registry.connect()).rejects.toThrow(`there is no chroot ${chroot}`);
    const member = connections.acquire(spec, 'member');
    expect(member.registry).toBe(observer.registry);
    await member.registry.connect({ timeout: 10_000 });
    expect(await observer.registry.children('/')).toEqual([]);
    await Promise.all([observer.release(), member.release()]);
  });
});
