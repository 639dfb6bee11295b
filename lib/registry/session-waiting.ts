import { EMPTY, filter, type Observable, Subscription, take } from 'rxjs';
import type { Clock, Timer } from './environment.js';
import type { OperationOptions, Registry } from './registry.js';
import { AbortedError, RegistryClosedError, type RegistryError } from './registry.errors.js';

const CONNECT = { operation: 'connect', path: '/' };

/**
 * Resolves once the registry is connected; on the deadline, rejects with what `onTimeout` says, and at
 * once while there is an obstacle that waiting does not remove.
 */
export function waitUntilConnected(
  registry: Registry,
  clock: Clock,
  { timeout, signal }: OperationOptions & { timeout: number },
  onTimeout: () => RegistryError,
  obstacle$: Observable<RegistryError | undefined> = EMPTY,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: Timer | undefined;
    const subscription = new Subscription();
    const end = (): void => {
      timer?.cancel();
      subscription.unsubscribe();
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
    subscription.add(
      registry.session$
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
        }),
    );
    subscription.add(obstacle$.pipe(filter((obstacle) => obstacle !== undefined)).subscribe(fail));
  });
}
