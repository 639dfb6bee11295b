import {
  badDecoratorOption,
  notAMethod,
  onStaticMethod,
  onSymbolMethod,
} from '../sharding.messages.js';
import { methodLabel } from './method-metadata.js';

type Method = (...args: never) => unknown;

/** The compiler sees to it; plain JavaScript and casts do not. */
export function assertMethod<M>(
  decorator: string,
  descriptor: TypedPropertyDescriptor<M> | undefined,
  target: object,
  key: string | symbol,
): M & Method {
  const label = methodLabel(target, key);
  const method: unknown = descriptor?.value;
  if (typeof method !== 'function') throw new TypeError(notAMethod(decorator, label));
  // Neither would ever be found, and nothing would say so.
  if (typeof target === 'function') throw new TypeError(onStaticMethod(decorator, label));
  if (typeof key === 'symbol') throw new TypeError(onSymbolMethod(decorator, label));
  return method as M & Method;
}

export function assertOptions(
  decorator: string,
  options: object,
  known: readonly string[],
  target: object,
  key: string | symbol,
): void {
  const refuse = (problem: string): never => {
    throw new TypeError(badDecoratorOption(decorator, methodLabel(target, key), problem));
  };
  if (typeof options !== 'object' || options === null) {
    return refuse(`expected an object such as { sharding: 'name' }`);
  }
  for (const option of Object.keys(options)) {
    if (!known.includes(option)) refuse(`unknown option "${option}", known: ${known.join(', ')}`);
  }
  const { sharding } = options as { sharding?: unknown };
  if (sharding !== undefined && (typeof sharding !== 'string' || sharding === '')) {
    refuse('sharding is the name of a registration: expected a string that is not empty');
  }
}

export function assertConcurrency(
  decorator: string,
  concurrency: number,
  target: object,
  key: string | symbol,
): void {
  if (concurrency === Infinity || (Number.isInteger(concurrency) && concurrency >= 1)) return;
  const problem = `concurrency is ${String(concurrency)}: expected a whole number from 1, or Infinity`;
  throw new TypeError(badDecoratorOption(decorator, methodLabel(target, key), problem));
}
