import type { Clock, Timer } from './environment.js';
import { assertTimeout } from './operation-arguments.js';
import type { OperationOptions } from './registry.js';
import {
  AbortedError,
  ConnectionLostError,
  RegistryClosedError,
  SessionLostError,
  TimedOutError,
  type OperationSubject,
  type RegistryError,
} from './registry.errors.js';

/** How an adapter answers a request that it was told to send. Only the first answer counts. */
export interface Answer<T> {
  resolve(value: T): void;
  reject(error: RegistryError): void;
}

type Send<T> = (answer: Answer<T>) => void;

interface Operation {
  readonly subject: OperationSubject;
  send(): void;
  fail(error: (sent: boolean) => RegistryError): void;
}

/**
 * The life of every operation of a registry, the same for all adapters: it waits for a connection,
 * is sent once, and ends exactly once: by its answer, its deadline, its signal, the loss of the
 * connection or session, or the close. Invariant: an operation is in `#waiting` or `#sent` exactly as
 * long as its promise is pending, so none can hang when the registry closes.
 */
export class Operations {
  readonly #waiting = new Set<Operation>();
  readonly #sent = new Set<Operation>();
  #state: 'disconnected' | 'connected' | 'closed' = 'disconnected';
  #session: string | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly defaultTimeout: () => number,
  ) {}

  get pending(): number {
    return this.#waiting.size + this.#sent.size;
  }

  run<T>(subject: OperationSubject, options: OperationOptions, send: Send<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#state === 'closed') return reject(new RegistryClosedError(subject, false));
      if (options.signal?.aborted) return reject(new AbortedError(subject, false));
      if (options.session !== undefined && options.session !== this.#session) {
        return reject(new SessionLostError(subject, false));
      }
      this.#start(subject, options, send, resolve, reject);
    });
  }

  /** The session is usable: everything that waited is sent, in the order of the calls. */
  connected(session: string): void {
    this.#state = 'connected';
    this.#session = session;
    for (const operation of this.#waiting) {
      if (this.#state !== 'connected') return;
      operation.send();
    }
  }

  /** The connection broke: what was sent has an unknown outcome, what waits goes on waiting. */
  disconnected(): void {
    if (this.#state === 'connected') this.#state = 'disconnected';
    for (const operation of this.#sent) {
      operation.fail(() => new ConnectionLostError(operation.subject));
    }
  }

  /** The session is over: whatever belonged to it ends. */
  sessionLost(): void {
    this.#state = 'disconnected';
    this.#session = undefined;
    this.#failAll((operation, sent) => new SessionLostError(operation.subject, sent));
  }

  closed(): void {
    this.#state = 'closed';
    this.#session = undefined;
    this.#failAll((operation, sent) => new RegistryClosedError(operation.subject, sent));
  }

  #failAll(error: (operation: Operation, sent: boolean) => RegistryError): void {
    for (const operation of [...this.#sent, ...this.#waiting]) {
      operation.fail((sent) => error(operation, sent));
    }
  }

  #start<T>(
    subject: OperationSubject,
    { timeout = this.defaultTimeout(), signal }: OperationOptions,
    send: Send<T>,
    resolve: (value: T) => void,
    reject: (error: RegistryError) => void,
  ): void {
    assertTimeout(`${subject.operation} ${subject.path}`, timeout, subject);
    let timer: Timer | undefined;
    let ended = false;
    const end = (): boolean => {
      if (ended) return false;
      ended = true;
      this.#waiting.delete(operation);
      this.#sent.delete(operation);
      timer?.cancel();
      signal?.removeEventListener('abort', onAbort);
      return true;
    };
    const operation: Operation = {
      subject,
      send: () => {
        this.#waiting.delete(operation);
        this.#sent.add(operation);
        send({
          resolve: (value) => {
            if (end()) resolve(value);
          },
          reject: (error) => {
            if (end()) reject(error);
          },
        });
      },
      fail: (error) => {
        const sent = this.#sent.has(operation);
        if (end()) reject(error(sent));
      },
    };
    const onAbort = (): void => operation.fail((sent) => new AbortedError(subject, sent));

    signal?.addEventListener('abort', onAbort);
    if (timeout !== Infinity) {
      timer = this.clock.setTimer(
        () => operation.fail((sent) => new TimedOutError(subject, timeout, sent)),
        timeout,
      );
    }
    // What waits goes first, also while it is being sent.
    if (this.#state === 'connected' && this.#waiting.size === 0) operation.send();
    else this.#waiting.add(operation);
  }
}
