/** Stable names of why an administrator's wish was not fulfilled. @publicApi */
export type ShardingAdminErrorCode = 'NO_SUCH_GROUP' | 'CONFLICT' | 'REFUSED' | 'UNCERTAIN';

/**
 * The base of what `ShardingAdmin` refuses; the store's own errors are `RegistryError`s. Compare `code`,
 * not classes, where the error may come from another copy of the package. @publicApi
 */
export abstract class ShardingAdminError extends Error {
  abstract readonly code: ShardingAdminErrorCode;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The store answers, and has no group of this name. @publicApi */
export class NoSuchGroupError extends ShardingAdminError {
  readonly code = 'NO_SUCH_GROUP';

  constructor(namespace: string) {
    super(
      `There is no group in the namespace ${JSON.stringify(namespace)}: no instance ever started there, ` +
        'or the connect string lacks its chroot',
    );
  }
}

/**
 * Somebody else changed the configuration after it was read. Nothing was written, unless the answer to our
 * write got lost and somebody replaced it since. @publicApi
 */
export class ConfigConflictError extends ShardingAdminError {
  readonly code = 'CONFLICT';

  constructor() {
    super('Somebody else changed the configuration meanwhile: look at it, then try again');
  }
}

/** No answer came: the change may have been written, or not. @publicApi */
export class UncertainChangeError extends ShardingAdminError {
  readonly code = 'UNCERTAIN';

  constructor(timeout: number, cause: unknown) {
    super(
      `The store has not answered for ${timeout / 1_000} s: the change may have been written, or not; look at the status`,
      { cause },
    );
  }
}

/** What was asked for cannot be right, or not now; nothing was written. @publicApi */
export class RefusedError extends ShardingAdminError {
  readonly code = 'REFUSED';
}
