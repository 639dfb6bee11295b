import { filter, type Subscription, take } from 'rxjs';
import type { Clock, Timer } from './environment.js';
import type { OperationOptions, Registry } from './registry.js';
import { AbortedError, RegistryClosedError, type RegistryError } from './registry.errors.js';

const CONNECT = { operation: 'connect', path: '/' };

/** Resolves once the registry is connected; on the deadline, rejects with what `onTimeout` says. */
export function waitUntilConnected(
  registry: Registry,
  clock: Clock,
  { timeout, signal }: OperationOptions & { timeout: number },
  onTimeout: () => RegistryError,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: Timer | undefined;
    let subscription: Subscription | undefined;
    const end = (): void => {
      timer?.cancel();
      subscription?.unsubscribe();
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (error: RegistryError): void => {
      end();
      reject(error);
    };
    const onAbort = (): void => fail(new AbortedError(CONNECT, false));
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);
    if (timeout !== Infinity) timer = clock.setTimer(() => fail(onTimeout()), timeout);
    subscription = registry.session$
      .pipe(
        filter(({ state }) => state === 'connected'),
        take(1),
      )
      .subscribe({
        next: () => {
          end();
          resolve();
        },
        // The stream completes after the first connection, or without one when the registry is closed.
        complete: () => fail(new RegistryClosedError(CONNECT, false)),
      });
  });
}
