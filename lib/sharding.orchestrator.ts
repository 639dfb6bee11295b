import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ShardingRegistrations } from './sharding.registrations.js';
import { ShutdownHooksReminder } from './shutdown-hooks.reminder.js';

/**
 * Starts and stops with the application. Its module is global, so on Nest 11 and later it starts before
 * anything of the application's own does and stops after it.
 */
@Injectable()
export class ShardingOrchestrator
  implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown
{
  constructor(
    private readonly registrations: ShardingRegistrations,
    private readonly reminder: ShutdownHooksReminder,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { all } = this.registrations;
    const starts = all
      .filter(({ autoStart }) => autoStart)
      .map((registration) => registration.startWithApplication());
    const failed = (await Promise.allSettled(starts)).find(({ status }) => status === 'rejected');
    if (!failed) return;
    // An application that does not start must not stay a member of a group.
    await this.onApplicationShutdown();
    throw (failed as PromiseRejectedResult).reason;
  }

  /** Early, so that shards and leadership have gone elsewhere before connections are closed. */
  async onModuleDestroy(): Promise<void> {
    this.reminder.cancel();
    await Promise.all(this.registrations.all.map((registration) => registration.stop()));
  }

  /** Last, so that nobody finds the session gone while it is still needed. */
  async onApplicationShutdown(): Promise<void> {
    this.reminder.cancel();
    await Promise.all(this.registrations.all.map((registration) => registration.close()));
  }
}
