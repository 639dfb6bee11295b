import {
  BadVersionError,
  ConnectionLostError,
  NoAuthError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  OperationFailedError,
  SessionLostError,
  type OperationSubject,
  type RegistryError,
} from '../registry.errors.js';

/** The return codes of ZooKeeper that mean something to us. */
export const Code = {
  OK: 0,
  CONNECTION_LOSS: -4,
  MARSHALLING_ERROR: -5,
  OPERATION_TIMEOUT: -7,
  BAD_ARGUMENTS: -8,
  INVALID_STATE: -9,
  NO_NODE: -101,
  NO_AUTH: -102,
  BAD_VERSION: -103,
  NO_CHILDREN_FOR_EPHEMERALS: -108,
  NODE_EXISTS: -110,
  NOT_EMPTY: -111,
  SESSION_EXPIRED: -112,
  CLOSING: -116,
  SESSION_MOVED: -118,
} as const;

/** A request that did not succeed. It carries no more than the code, so no data can leak through it. */
export class RequestFailure extends Error {
  constructor(
    readonly rc: number,
    /** False when the client refused the request, so that nothing has left this process. */
    readonly sent: boolean,
  ) {
    super(`ZooKeeper code ${rc}`);
  }
}

export function failedWith(error: unknown, rc: number): boolean {
  return error instanceof RequestFailure && error.rc === rc;
}

/** Whether the store itself has said no; otherwise the request may have taken effect. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof RequestFailure)) return false;
  return !error.sent || !UNKNOWN_OUTCOME.has(error.rc);
}

// A moved session means that another connection of ours has taken over: only looking tells the rest.
const UNKNOWN_OUTCOME = new Set<number>([
  Code.CONNECTION_LOSS,
  Code.OPERATION_TIMEOUT,
  Code.SESSION_EXPIRED,
  Code.CLOSING,
  Code.SESSION_MOVED,
]);

/** What a caller of the registry gets to see of it. */
export function toRegistryError(
  { rc, sent }: RequestFailure,
  subject: OperationSubject,
): RegistryError {
  switch (rc) {
    case Code.NO_NODE:
      return new NoNodeError(subject);
    case Code.NODE_EXISTS:
      return new NodeExistsError(subject);
    case Code.BAD_VERSION:
      return new BadVersionError(subject);
    case Code.NOT_EMPTY:
      return new NotEmptyError(subject);
    case Code.NO_AUTH:
      return new NoAuthError(subject);
    case Code.NO_CHILDREN_FOR_EPHEMERALS:
      return new NoChildrenForEphemeralsError(subject);
    case Code.SESSION_EXPIRED:
      return new SessionLostError(subject, sent);
    case Code.CONNECTION_LOSS:
    case Code.OPERATION_TIMEOUT:
    case Code.CLOSING:
    case Code.SESSION_MOVED:
    case Code.INVALID_STATE:
      return new ConnectionLostError(subject, sent);
    default:
      return new OperationFailedError(subject, `ZooKeeper answered with code ${rc}${meaning(rc)}`);
  }
}

function meaning(rc: number): string {
  if (rc === Code.BAD_ARGUMENTS) return ' (bad arguments: not allowed on this node)';
  if (rc === Code.MARSHALLING_ERROR) return ' (the request could not be encoded)';
  return '';
}
