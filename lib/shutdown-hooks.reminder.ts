import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Timer } from './registry/environment.js';
import { SHARDING_WORLD } from './sharding.constants.js';
import { noShutdownHooks } from './sharding.messages.js';
import type { ShardingWorld } from './sharding.world.js';

/** An app made by `createApplicationContext` can enable its hooks only after it has started. */
const PATIENCE = 1_000;

/** Says once that nobody will tell us when the process is asked to end. */
@Injectable()
export class ShutdownHooksReminder {
  readonly #logger = new Logger('Sharding');
  #timer: Timer | undefined;

  constructor(@Inject(SHARDING_WORLD) private readonly world: ShardingWorld) {}

  arm(): void {
    this.#timer ??= this.world.clock.setTimer(() => this.#look(), PATIENCE);
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    if (process.listenerCount('SIGTERM') === 0) this.#logger.warn(noShutdownHooks());
  }
}
