import { setTimeout as sleep } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Milliseconds until the last failure is thrown. @default 10000 */
  timeout?: number;
  /** Milliseconds between two tries. @default 20 */
  interval?: number;
  /** What is awaited; stands at the head of the error. */
  label?: string;
}

/**
 * Polls until `probe` neither throws nor answers `false` or `null`, and gives its answer back.
 *
 * An assertion answers nothing, so `undefined` counts as success. At the deadline the last failure is
 * thrown as it is (jest's diff included) with the label before it; a probe that hangs fails as well.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  { timeout = 10_000, interval = 20, label }: EventuallyOptions = {},
): Promise<Exclude<T, false | null>> {
  const deadline = performance.now() + timeout;
  let failure: unknown = new Error('the probe did not answer');
  for (;;) {
    try {
      const answer = await within(Promise.resolve().then(probe), deadline);
      if (answer !== false && answer !== null) return answer as Exclude<T, false | null>;
      failure = new Error(`the probe answered ${String(answer)}`);
    } catch (error) {
      if (error !== HUNG) failure = error;
    }
    if (performance.now() + interval >= deadline) throw labelled(failure, timeout, label);
    await sleep(interval);
  }
}

const HUNG = Symbol('hung');

function within<T>(answer: Promise<T>, deadline: number): Promise<T> {
  const hung = deferred<never>();
  const timer = setTimeout(() => hung.reject(HUNG), Math.max(0, deadline - performance.now()));
  return Promise.race([answer, hung.promise]).finally(() => clearTimeout(timer));
}

function labelled(failure: unknown, timeout: number, label = 'condition'): Error {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const { message, stack } = error;
  error.message = `${label}: not within ${timeout} ms: ${message}`;
  // Jest prints the stack, which froze the message when the error was made.
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
  return error;
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** A promise that is settled from outside. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
