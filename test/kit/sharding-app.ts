import type { LoggerService, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { SHARDING_COORDINATOR_FACTORY, SHARDING_WORLD } from '../../lib/sharding.constants.js';
import type { ShardingWorld } from '../../lib/sharding.world.js';
import { FakeCoordinators } from './fake-coordinator.js';

/** Keeps what is logged, as `level context: message`. */
export class KeptLogs implements LoggerService {
  readonly lines: string[] = [];
  readonly stacks: string[] = [];

  log(): void {}

  warn(message: unknown, context?: unknown): void {
    this.lines.push(`warn ${String(context)}: ${String(message)}`);
  }

  error(message: unknown, stack?: unknown, context?: unknown): void {
    this.lines.push(`error ${String(context)}: ${String(message)}`);
    this.stacks.push(String(stack));
  }
}

export interface FakedApp {
  readonly app: TestingModule;
  readonly fakes: FakeCoordinators;
  readonly logs: KeptLogs;
}

export interface FakedAppOptions {
  readonly fakes?: FakeCoordinators;
  readonly world?: ShardingWorld;
}

/** An application with these modules and providers on fake coordinators; `app.init()` starts it. */
export async function fakedApp(
  metadata: ModuleMetadata,
  { fakes = new FakeCoordinators(), world }: FakedAppOptions = {},
): Promise<FakedApp> {
  const logs = new KeptLogs();
  const builder = Test.createTestingModule(metadata)
    .setLogger(logs)
    .overrideProvider(SHARDING_COORDINATOR_FACTORY)
    .useValue(fakes.make);
  if (world) builder.overrideProvider(SHARDING_WORLD).useValue(world);
  return { app: await builder.compile(), fakes, logs };
}
