/** Another live instance uses the same id. @publicApi */
export class DuplicateInstanceError extends Error {
  override readonly name = 'DuplicateInstanceError';
  constructor(id: string, path: string, waited: number) {
    super(
      `The instance id ${JSON.stringify(id)} is used by another live instance: ${path} still belongs to ` +
        `another session after ${waited} ms. Give each instance its own instance.id, or leave it out`,
    );
  }
}

/** The group's shared configuration differs from this instance's options. @publicApi */
export class ConfigMismatchError extends Error {
  override readonly name = 'ConfigMismatchError';
}

/** The coordinator was closed before what was waited for came to be. @publicApi */
export class ShardingClosedError extends Error {
  override readonly name = 'ShardingClosedError';
  constructor() {
    super('This sharding coordinator is closed');
  }
}

/** Nothing came within the time given. @publicApi */
export class ShardingTimeoutError extends Error {
  override readonly name = 'ShardingTimeoutError';
}

/** An observer was asked for what only a member can do. @publicApi */
export class ObserverHoldsNothingError extends Error {
  override readonly name = 'ObserverHoldsNothingError';
  constructor(call: string) {
    super(`${call} is for members: an observer holds nothing that it could give up or take again`);
  }
}
