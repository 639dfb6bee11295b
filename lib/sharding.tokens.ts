// Nest quotes the token when it cannot resolve it, so it reads as the import that is missing.
const registration = (name: string | undefined): string =>
  name === undefined
    ? 'ShardingModule.forRoot({ … })'
    : `ShardingModule.forRoot({ name: ${JSON.stringify(name)}, … })`;

/**
 * The injection token of a registration's `ShardingService`.
 * @param name default: the unnamed registration
 * @publicApi
 */
export function getShardingToken(name?: string): string {
  return `ShardingService of ${registration(name)}`;
}

/**
 * The injection token of a registration's `ShardingAdmin`.
 * @param name default: the unnamed registration
 * @publicApi
 */
export function getShardingAdminToken(name?: string): string {
  return `ShardingAdmin of ${registration(name)}`;
}

/**
 * The injection token of a registration's options, as they were given.
 * @param name default: the unnamed registration
 * @publicApi
 */
export function getShardingOptionsToken(name?: string): string {
  return `options of ${registration(name)}`;
}
