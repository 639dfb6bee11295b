import type { Observable, Subscription } from 'rxjs';
import {
  registryErrorCode,
  type RegistryError,
  type RegistryErrorCode,
} from '../../lib/registry/registry.errors.js';

/** Everything that an Observable has told so far. */
export class Recording<T> {
  readonly values: T[] = [];
  completed = false;
  error: unknown;
  readonly #subscription: Subscription;

  constructor(source: Observable<T>) {
    this.#subscription = source.subscribe({
      next: (value) => this.values.push(value),
      error: (error: unknown) => (this.error = error),
      complete: () => (this.completed = true),
    });
  }

  get last(): T | undefined {
    return this.values.at(-1);
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}

/** The registry error that a promise rejects with; anything else is a failure of the test. */
export async function failure(promise: Promise<unknown>): Promise<RegistryError> {
  const ended = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in ended) throw new Error('resolved where a rejection was expected');
  if (registryErrorCode(ended.error) === undefined) throw ended.error;
  return ended.error as RegistryError;
}

export async function failureCode(promise: Promise<unknown>): Promise<RegistryErrorCode> {
  return (await failure(promise)).code;
}

/** How a promise ended: `ok`, or the code of its error. Registry errors only. */
export function outcome(promise: Promise<unknown>): Promise<'ok' | RegistryErrorCode> {
  return promise.then(
    () => 'ok' as const,
    (error: unknown) => {
      const code = registryErrorCode(error);
      if (code === undefined) throw error;
      return code;
    },
  );
}
