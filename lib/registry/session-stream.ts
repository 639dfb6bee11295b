import { type Observable, ReplaySubject } from 'rxjs';
import type { Session } from './registry.js';

/** A registry's session: what it is now, and a stream that starts with that, also after the close. */
export class SessionStream {
  readonly #changes = new ReplaySubject<Session>(1);
  #current: Session;

  constructor(first: Session) {
    this.#current = first;
    this.#changes.next(first);
  }

  get current(): Session {
    return this.#current;
  }

  get changes$(): Observable<Session> {
    return this.#changes.asObservable();
  }

  /** Does nothing once closed. */
  next(change: Partial<Session>): void {
    if (this.#current.state === 'closed') return;
    this.#current = { ...this.#current, ...change };
    this.#changes.next(this.#current);
  }

  close(): void {
    this.next({ state: 'closed' });
    this.#changes.complete();
  }
}
