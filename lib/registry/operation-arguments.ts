import { MAX_DATA_BYTES } from './limits.js';
import { ANY_VERSION } from './registry.js';
import { InvalidArgumentError, TooLargeError, type OperationSubject } from './registry.errors.js';

/** Throws before anything is sent if this cannot be the data of a node. */
export function assertData(subject: OperationSubject, data: Buffer): void {
  if (!Buffer.isBuffer(data)) {
    throw new InvalidArgumentError(
      `${subject.operation} ${subject.path}: the data is no Buffer; expected one, if need be an empty one`,
      subject,
    );
  }
  if (data.length > MAX_DATA_BYTES) throw new TooLargeError(subject, data.length, MAX_DATA_BYTES);
}

/** Throws before anything is sent if this cannot be the version of a node. */
export function assertVersion(subject: OperationSubject, version: number): void {
  if (Number.isInteger(version) && version >= ANY_VERSION && version < 2 ** 31) return;
  throw new InvalidArgumentError(
    `${subject.operation} ${subject.path}: ${String(version)} is no version; expected the one of the ` +
      "node's stat, or ANY_VERSION",
    subject,
  );
}

/** Throws before anything is sent if nobody could be waited for so long. */
export function assertTimeout(call: string, timeout: number, subject?: OperationSubject): void {
  if (typeof timeout === 'number' && timeout > 0) return;
  throw new InvalidArgumentError(
    `${call}: the timeout is ${String(timeout)}; expected a positive number of milliseconds, or Infinity`,
    subject,
  );
}

/** Throws before anything is sent if the node is the root, without which there is no store. */
export function assertDeletable(subject: OperationSubject): void {
  if (subject.path !== '/') return;
  throw new InvalidArgumentError('delete /: the root cannot be deleted', subject);
}
