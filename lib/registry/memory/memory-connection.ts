import type { WatchEvent } from '../live-views.js';
import { NoNodeError, type OperationSubject, type RegistryError } from '../registry.errors.js';
import { isRead, type MemoryRequest, type Read, type Write } from './memory-request.js';
import type { MemoryServer, ServedConnection } from './memory-server.js';

/** What the client's end of a connection hears. */
export interface ConnectionListener {
  replied(serverId: number, settle: () => void): void;
  notified(path: string, event: WatchEvent): void;
  broken(): void;
}

/** Where writes are decided on. */
export interface CommitLog {
  readonly committedId: number;
  /** Carries out a write of a session; throws the reason why not, or `SessionEnded`. */
  commit(session: string, write: Write, subject: OperationSubject): unknown;
}

/** Thrown by the cluster when a write comes from a session that it has ended. */
export class SessionEnded extends Error {}

/**
 * The server's end of one client's connection. Requests are answered in order: what follows a write
 * waits until this server has applied the write, so a client reads what it wrote.
 */
export class MemoryConnection implements ServedConnection {
  #queue: MemoryRequest[] = [];
  #open = true;
  #proceeding = false;
  #dropNextWriteAnswer = false;
  /** The answer to the write or sync at the head of the line, due once the server has applied `id`. */
  #due: { readonly id: number; readonly settle: () => void } | undefined;

  constructor(
    private readonly log: CommitLog,
    readonly server: MemoryServer,
    readonly session: string,
    private readonly listener: ConnectionListener,
  ) {
    server.attach(this);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  receive(request: MemoryRequest): void {
    if (!this.#open) return;
    this.#queue.push(request);
    this.proceed();
  }

  /** The next write takes effect, but the connection breaks before its answer leaves. */
  dropNextWriteAnswer(): void {
    this.#dropNextWriteAnswer = true;
  }

  notify(path: string, event: WatchEvent): void {
    this.listener.notified(path, event);
  }

  break(): void {
    if (!this.#open) return;
    this.close();
    this.listener.broken();
  }

  close(): void {
    this.#open = false;
    this.#queue = [];
    this.#due = undefined;
    this.server.detach(this);
  }

  /** Goes on as far as it can: called when a request came in, or the server has caught up. */
  proceed(): void {
    // A write of our own makes the server catch up, while its answer is not yet due.
    if (this.#proceeding) return;
    this.#proceeding = true;
    while (this.#open && this.#step());
    this.#proceeding = false;
  }

  /** Whether something could be done. */
  #step(): boolean {
    if (this.#due) {
      if (this.server.appliedId < this.#due.id) return false;
      const { settle } = this.#due;
      this.#due = undefined;
      this.#reply(settle);
    }
    const request = this.#queue[0];
    if (!request || (!isRead(request.command) && !this.server.isInTouch)) return false;
    this.#queue.shift();
    this.#handle(request);
    return true;
  }

  #handle({ subject, command, answer }: MemoryRequest): void {
    if (isRead(command)) {
      const value = this.#read(command);
      if (value === undefined && command.kind !== 'exists') {
        return this.#reply(() => answer.reject(new NoNodeError(subject)));
      }
      return this.#reply(() => answer.resolve(value));
    }
    if (command.kind === 'sync') {
      this.#due = { id: this.log.committedId, settle: () => answer.resolve(undefined) };
      return;
    }
    const settle = this.#commit(command, subject, answer);
    if (this.#dropNextWriteAnswer) return this.break();
    if (settle) this.#due = { id: this.log.committedId, settle };
  }

  #read({ kind, path, watch }: Read): unknown {
    const { tree } = this.server;
    if (kind === 'children') {
      const names = tree.children(path);
      if (watch && names) this.server.watchChildren(path, this);
      return names;
    }
    const found = kind === 'get' ? tree.snapshot(path) : tree.stat(path);
    if (watch && (found || kind === 'exists')) this.server.watchData(path, this);
    return found;
  }

  #commit(
    write: Write,
    subject: OperationSubject,
    answer: MemoryRequest['answer'],
  ): (() => void) | undefined {
    try {
      const value = this.log.commit(this.session, write, subject);
      return () => answer.resolve(value);
    } catch (error) {
      if (error instanceof SessionEnded) {
        this.break();
        return undefined;
      }
      return () => answer.reject(error as RegistryError);
    }
  }

  #reply(settle: () => void): void {
    this.listener.replied(this.server.appliedId, settle);
  }
}
