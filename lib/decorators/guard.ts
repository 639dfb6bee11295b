import type { ShardingGate, ShardingGates } from '../interfaces/sharding-gate.interface.js';
import type { GuardMetadata } from '../interfaces/sharding-metadata.interface.js';
import { SHARDING_GATES, SHARDING_GUARDS } from '../sharding.constants.js';
import { NotGuardedError } from '../sharding.errors.js';
import { notGuarded } from '../sharding.messages.js';
import { appendMetadata, copyMetadata, methodLabel } from './method-metadata.js';

type Method = (...args: unknown[]) => unknown;

/** One call of a guarded method. */
export interface GuardedCall {
  readonly gate: ShardingGate;
  readonly label: string;
  /** The method as it was written, on its instance. */
  readonly run: (...args: unknown[]) => unknown;
  readonly args: readonly unknown[];
}

/**
 * Puts a gate before a method. The method is replaced when it is decorated, so whoever looks it up
 * later (a scheduler, a router) gets the guarded one whatever the order of decorators and imports.
 */
export function guard(
  metadata: GuardMetadata,
  target: object,
  key: string | symbol,
  descriptor: { value?: unknown },
  pass: (call: GuardedCall) => unknown,
): void {
  const method = descriptor.value as Method;
  const guarded = function (this: unknown, ...args: unknown[]): unknown {
    const label = methodLabel(isObject(this) ? this : target, key);
    const gate = gatesOf(this)?.gate(metadata.sharding);
    // Passing silently would run on every instance what is meant to run on one.
    if (!gate) throw new NotGuardedError(notGuarded(metadata.decorator, label));
    return pass({ gate, label, args, run: (...own) => Reflect.apply(method, this, own) });
  };
  Object.defineProperty(guarded, 'name', { value: method.name, configurable: true });
  Object.defineProperty(guarded, 'length', { value: method.length, configurable: true });
  copyMetadata(method, guarded);
  appendMetadata(SHARDING_GUARDS, metadata, guarded);
  descriptor.value = guarded;
}

function gatesOf(instance: unknown): ShardingGates | undefined {
  return isObject(instance)
    ? (instance as { [SHARDING_GATES]?: ShardingGates })[SHARDING_GATES as never]
    : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
