/** Stable names of what can be wrong with the use of the module. @publicApi */
export type ShardingErrorCode =
  | 'INVALID_OPTIONS'
  | 'DUPLICATE_REGISTRATION'
  | 'UNKNOWN_REGISTRATION'
  | 'NOT_GUARDED'
  | 'NOT_READY';

/**
 * The base of the errors of the module itself; the store's are `RegistryError`s. Compare `code`, not
 * classes, where the error may come from another copy of the package. @publicApi
 */
export abstract class ShardingError extends Error {
  abstract readonly code: ShardingErrorCode;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An option that cannot be right; nothing was started. @publicApi */
export class InvalidShardingOptionsError extends ShardingError {
  readonly code = 'INVALID_OPTIONS';
}

/** Two registrations that cannot stand beside each other; nothing was started. @publicApi */
export class DuplicateShardingError extends ShardingError {
  readonly code = 'DUPLICATE_REGISTRATION';
}

/** A decorated method belongs to a registration that does not exist; nothing was started. @publicApi */
export class UnknownShardingError extends ShardingError {
  readonly code = 'UNKNOWN_REGISTRATION';
}

/** A guarded method was called on an instance that the module does not know. @publicApi */
export class NotGuardedError extends ShardingError {
  readonly code = 'NOT_GUARDED';
}

/** The question has no answer before the first plan was seen: see `whenReady()`. @publicApi */
export class ShardingNotReadyError extends ShardingError {
  readonly code = 'NOT_READY';
}
