/** Stable names of everything that can go wrong with a registry. @publicApi */
export type RegistryErrorCode =
  | 'NO_NODE'
  | 'NODE_EXISTS'
  | 'BAD_VERSION'
  | 'NOT_EMPTY'
  | 'NO_AUTH'
  | 'NO_CHILDREN_FOR_EPHEMERALS'
  | 'TOO_LARGE'
  | 'CONNECTION_LOST'
  | 'SESSION_LOST'
  | 'TIMED_OUT'
  | 'ABORTED'
  | 'CLOSED'
  | 'UNREACHABLE'
  | 'CLIENT_MISSING'
  | 'INVALID'
  | 'FAILED';

/** What an error was about: the operation's name and the path it was given. */
export interface OperationSubject {
  readonly operation: string;
  readonly path: string;
}

/**
 * The base of every error that a registry reports. Compare `code`, not classes, where the error may
 * come from another copy of the package. @publicApi
 */
export abstract class RegistryError extends Error {
  abstract readonly code: RegistryErrorCode;

  /**
   * True when the request may have taken effect although no answer came. A write with an unknown
   * outcome has to be looked for (see `SureWrites`), never assumed to have failed.
   */
  readonly outcomeUnknown: boolean;

  constructor(
    message: string,
    readonly subject?: OperationSubject,
    outcomeUnknown = false,
  ) {
    super(message);
    this.name = new.target.name;
    this.outcomeUnknown = outcomeUnknown;
  }
}

const about = ({ operation, path }: OperationSubject): string => `${operation} ${path}`;

/** The node does not exist: said by the store, never concluded from silence. @publicApi */
export class NoNodeError extends RegistryError {
  readonly code = 'NO_NODE';
  constructor(subject: OperationSubject) {
    super(`${about(subject)}: the node does not exist`, subject);
  }
}

/** @publicApi */
export class NodeExistsError extends RegistryError {
  readonly code = 'NODE_EXISTS';
  constructor(subject: OperationSubject) {
    super(`${about(subject)}: the node exists already`, subject);
  }
}

/** The node has another version than the caller expected. @publicApi */
export class BadVersionError extends RegistryError {
  readonly code = 'BAD_VERSION';
  constructor(subject: OperationSubject) {
    super(`${about(subject)}: the node has another version than expected`, subject);
  }
}

/** @publicApi */
export class NotEmptyError extends RegistryError {
  readonly code = 'NOT_EMPTY';
  constructor(subject: OperationSubject) {
    super(`${about(subject)}: the node has children`, subject);
  }
}

/** A node, or the store as a whole, is closed to us. @publicApi */
export class NoAuthError extends RegistryError {
  readonly code = 'NO_AUTH';
  constructor(subject: OperationSubject, closed = 'this node') {
    super(
      `${about(subject)}: access denied; the credentials in registry.auth do not open ${closed}`,
      subject,
    );
  }
}

/** @publicApi */
export class NoChildrenForEphemeralsError extends RegistryError {
  readonly code = 'NO_CHILDREN_FOR_EPHEMERALS';
  constructor(subject: OperationSubject) {
    super(`${about(subject)}: an ephemeral node cannot have children`, subject);
  }
}

/** @publicApi */
export class TooLargeError extends RegistryError {
  readonly code = 'TOO_LARGE';
  constructor(subject: OperationSubject, size: number, limit: number) {
    super(
      `${about(subject)}: ${size} bytes exceed the limit of ${limit}; nothing was sent`,
      subject,
    );
  }
}

/** The connection broke before the answer came: a write may have taken effect. @publicApi */
export class ConnectionLostError extends RegistryError {
  readonly code = 'CONNECTION_LOST';
  constructor(subject: OperationSubject, sent = true) {
    super(`${about(subject)}: the connection was lost before the answer came`, subject, sent);
  }
}

/** The session ended: its ephemeral nodes are gone or going, a write may have taken effect. @publicApi */
export class SessionLostError extends RegistryError {
  readonly code = 'SESSION_LOST';
  constructor(subject: OperationSubject, sent = true) {
    super(`${about(subject)}: the session that it belonged to is lost`, subject, sent);
  }
}

/** No answer within the operation's own deadline: a write may yet take effect. @publicApi */
export class TimedOutError extends RegistryError {
  readonly code = 'TIMED_OUT';
  constructor(subject: OperationSubject, timeout: number, sent = true) {
    super(`${about(subject)}: no answer within ${timeout} ms`, subject, sent);
  }
}

/** The caller's signal fired; what was sent by then may take effect. @publicApi */
export class AbortedError extends RegistryError {
  readonly code = 'ABORTED';
  constructor(subject: OperationSubject, sent = true) {
    super(`${about(subject)}: aborted by the caller`, subject, sent);
  }
}

/** The registry was closed by its owner. @publicApi */
export class RegistryClosedError extends RegistryError {
  readonly code = 'CLOSED';
  constructor(subject: OperationSubject, sent = true) {
    super(`${about(subject)}: the registry is closed`, subject, sent);
  }
}

/** No server answered within the connect timeout. @publicApi */
export class UnreachableError extends RegistryError {
  readonly code = 'UNREACHABLE';
}

/** The client library for this store is not installed, or was not built. @publicApi */
export class ClientMissingError extends RegistryError {
  readonly code = 'CLIENT_MISSING';
}

/** An argument or option that cannot be right; nothing was sent. @publicApi */
export class InvalidArgumentError extends RegistryError {
  readonly code = 'INVALID';
}

/** An answer of the store that has no class of its own; the message carries the store's code. @publicApi */
export class OperationFailedError extends RegistryError {
  readonly code = 'FAILED';
  constructor(subject: OperationSubject, reason: string) {
    super(`${about(subject)}: ${reason}`, subject);
  }
}

/** The code of a registry error, or undefined for anything else; works across copies of the package. */
export function registryErrorCode(error: unknown): RegistryErrorCode | undefined {
  return error instanceof Error && 'code' in error && 'outcomeUnknown' in error
    ? (error as RegistryError).code
    : undefined;
}
