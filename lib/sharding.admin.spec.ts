import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { eventually } from '../test/kit/eventually.js';
import { KeptLogs } from '../test/kit/sharding-app.js';
import {
  getShardingAdminToken,
  InjectShardingAdmin,
  MemoryCluster,
  ShardingAdmin,
  ShardingModule,
  ShardingService,
} from './index.js';

@Injectable()
class Operations {
  constructor(
    readonly admin: ShardingAdmin,
    @InjectShardingAdmin('mails') readonly mails: ShardingAdmin,
  ) {}
}

describe('ShardingAdmin in an application', () => {
  let app: TestingModule | undefined;

  afterEach(() => app?.close());

  async function start(autoStart = true): Promise<TestingModule> {
    const cluster = new MemoryCluster();
    const registry = { type: 'memory', cluster } as const;
    app = await Test.createTestingModule({
      imports: [
        ShardingModule.forRoot({ registry, total: 4, autoStart }),
        ShardingModule.forRoot({
          name: 'mails',
          registry,
          namespace: 'mails',
          total: 2,
          autoStart,
        }),
      ],
      providers: [Operations],
    })
      .setLogger(new KeptLogs())
      .compile();
    return app.init();
  }

  it('is injected by its class, and by name', async () => {
    const application = await start();
    const { admin, mails } = application.get(Operations);
    expect(admin.namespace).toBe('dynamic-sharding');
    expect(mails.namespace).toBe('mails');
    expect(application.get(getShardingAdminToken())).toBe(admin);
    expect(application.get(getShardingAdminToken('mails'))).toBe(mails);
  });

  it('administers its own group', async () => {
    const application = await start();
    const { admin } = application.get(Operations);
    const sharding = application.get(ShardingService);
    await sharding.whenReady();
    await admin.setTotal(6);
    await eventually(() => sharding.items.length === 6);
    await admin.drain(sharding.instanceId);
    expect(await admin.whenEmpty(sharding.instanceId)).toMatchObject({ items: [] });
  });

  it('connects by itself where nothing has been started', async () => {
    const application = await start(false);
    const { admin } = application.get(Operations);
    await expect(admin.status()).rejects.toMatchObject({ code: 'NO_SUCH_GROUP' });
  });

  it('leaves the connection to its registration', async () => {
    const application = await start();
    const sharding = application.get(ShardingService);
    await sharding.whenReady();
    await application.get(ShardingAdmin).close();
    expect(sharding.status).toBe('ready');
    expect(sharding.items).toHaveLength(4);
  });
});
