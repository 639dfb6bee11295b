import type {
  PerShardOptions,
  ShardingGateDecorator,
} from '../interfaces/sharding-decorators.interface.js';
import type { Shard } from '../interfaces/sharding-values.interface.js';
import { assertConcurrency, assertMethod, assertOptions } from './assertions.js';
import { guard } from './guard.js';

/**
 * Makes a call of the method, or a tick of its `@Cron`, run it once for each shard that is held, with
 * the shard as its argument; while nothing is held a call does nothing. The call becomes a promise.
 *
 * A failure does not stop the other shards: when all have ended the call rejects, with the error itself
 * if there was one and with an `AggregateError` if there were several. A shard that is lost before its
 * turn is left out; one that is to be let go is kept until its call has ended, within `drainTimeout`.
 * @publicApi
 */
export function PerShard(options: PerShardOptions = {}): ShardingGateDecorator<[shard: Shard]> {
  const decorator = '@PerShard';
  return (target, key, descriptor) => {
    assertOptions(decorator, options, ['sharding', 'concurrency'], target, key);
    const { sharding, concurrency = Infinity } = options;
    assertConcurrency(decorator, concurrency, target, key);
    assertMethod(decorator, descriptor, target, key);
    guard({ kind: 'shard', decorator, sharding }, target, key, descriptor, async (call) =>
      call.gate.perShard(call.label, (shard) => call.run(shard), { concurrency }),
    );
  };
}
