import type {
  ShardingModuleAsyncOptions,
  ShardingModuleExtras,
} from './interfaces/sharding-options.interface.js';
import { InvalidShardingOptionsError } from './sharding.errors.js';
import { badGlobal, badName, noOptions, noOptionsSource } from './sharding.messages.js';

const SOURCES = ['useFactory', 'useClass', 'useExisting'] as const;

/** Only what has to be known while modules are put together; the rest is checked at bootstrap. */
export function checkRootOptions(options: ShardingModuleExtras, method = 'forRoot'): void {
  if (typeof options !== 'object' || options === null) refuse(noOptions(method));
  const { name, isGlobal } = options;
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    refuse(badName(typeof name === 'string' ? '""' : `a ${typeof name}`));
  }
  if (isGlobal !== undefined && typeof isGlobal !== 'boolean') {
    refuse(badGlobal(name, `a ${typeof isGlobal}`));
  }
}

export function checkAsyncOptions(options: ShardingModuleAsyncOptions): void {
  checkRootOptions(options, 'forRootAsync');
  const given = SOURCES.filter((source) => options[source] !== undefined);
  if (given.length !== 1) refuse(noOptionsSource(given));
}

function refuse(message: string): never {
  throw new InvalidShardingOptionsError(message);
}
