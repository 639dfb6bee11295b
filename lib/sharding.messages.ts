import type { ShardingRole } from './interfaces/sharding-options.interface.js';

/** As messages name a registration. */
export const moduleLabel = (name: string | undefined): string =>
  name === undefined ? 'ShardingModule' : `ShardingModule ${JSON.stringify(name)}`;

const forRoot = (name: string | undefined): string =>
  name === undefined
    ? 'ShardingModule.forRoot({ … })'
    : `ShardingModule.forRoot({ name: ${JSON.stringify(name)}, … })`;

// What is wrong with the module's options

export const badOption = (name: string | undefined, problem: string): string =>
  `${moduleLabel(name)}: ${problem}`;

export const notTheExpected = (key: string, shown: string, expected: string): string =>
  `${key} is ${shown}: expected ${expected}`;

export const unknownOption = (key: string, known: readonly string[]): string =>
  `${key} is not an option; known here: ${known.join(', ')}`;

export const misplacedExtra = (key: string): string =>
  `${key} is not an option that a factory can give: put it beside useFactory, useClass or useExisting`;

export const missingOption = (key: string, expected: string): string =>
  `${key} is missing: expected ${expected}`;

export const notAvailableYet = (key: string, shown: string, instead: string): string =>
  `${key} is ${shown}, which is not available yet: ${instead}`;

export const noOptions = (method: string): string =>
  `ShardingModule.${method}() needs an object with options, such as ` +
  `{ registry: { type: 'memory' }, total: 8 }`;

export const noOptionsSource = (found: readonly string[]): string =>
  'ShardingModule.forRootAsync() needs exactly one of useFactory, useClass and useExisting; ' +
  (found.length === 0 ? 'none is given' : `${found.join(' and ')} are given`);

export const badName = (shown: string): string =>
  `The name of a ShardingModule is ${shown}: expected a string that is not empty; ` +
  'leave it out for the unnamed registration';

export const badGlobal = (name: string | undefined, shown: string): string =>
  badOption(name, notTheExpected('isGlobal', shown, 'true or false'));

// What does not fit together

export const duplicateName = (name: string | undefined): string =>
  `${moduleLabel(name)} is registered twice in this application, which would make two instances of it. ` +
  'Import it once, in the root module (it is global unless isGlobal is false)' +
  (name === undefined
    ? '; for a second group give the registration a name'
    : ', or give each registration its own name');

export const duplicateGroup = (
  name: string | undefined,
  other: string | undefined,
  namespace: string,
): string =>
  `${moduleLabel(name)} and ${moduleLabel(other)} of this application both use the namespace ` +
  `${JSON.stringify(namespace)} on the same store, so they would be two members of one group. ` +
  'Give each of them its own namespace';

export const unknownRegistrations = (
  uses: readonly { decorator: string; label: string; sharding: string | undefined }[],
  known: readonly (string | undefined)[],
): string => {
  const lines = uses.map(({ decorator, label, sharding }) => {
    const option = sharding === undefined ? '' : `{ sharding: ${JSON.stringify(sharding)} }`;
    return `${decorator}(${option}) on ${label} needs ${forRoot(sharding)}, which is not imported`;
  });
  const names = known.map((name) =>
    name === undefined ? 'the unnamed one' : JSON.stringify(name),
  );
  const registered = names.length === 0 ? 'none' : names.join(', ');
  return `${lines.join('\n')}\nRegistered in this application: ${registered}`;
};

// What is wrong with a decorated method

export const notAMethod = (decorator: string, label: string): string =>
  `${decorator} on ${label}: it decorates methods only`;

export const onStaticMethod = (decorator: string, label: string): string =>
  `${decorator} on ${label}: the method is static, and only those of instances are found. Leave \`static\` out`;

export const onSymbolMethod = (decorator: string, label: string): string =>
  `${decorator} on ${label}: the name of the method is a symbol, and those are not found. Give it a string`;

export const badDecoratorOption = (decorator: string, label: string, problem: string): string =>
  `${decorator} on ${label}: ${problem}`;

const SCOPED = 'its provider is request-scoped (or depends on one that is)';

export const neverCalled = (decorator: string, label: string): string =>
  `${decorator} on ${label} has no effect: ${SCOPED}, so there is no instance to call. ` +
  'Move the method to a provider with the default scope';

export const neverLetThrough = (decorator: string, label: string): string =>
  `${decorator} on ${label} makes each call throw: ${SCOPED}, so its instances are not known. ` +
  'Move the method to a provider with the default scope';

export const neverRun = (
  name: string | undefined,
  uses: readonly { decorator: string; label: string }[],
): string => {
  const methods = new Set(uses.map(({ decorator, label }) => `${decorator} on ${label}`));
  return (
    `${moduleLabel(name)} is an observer, which holds nothing and never leads, so these never run: ` +
    `${[...methods].join(', ')}. Move them to an application with role: "member"`
  );
};

export const notGuarded = (decorator: string, label: string): string =>
  `${decorator} on ${label} was called on an instance that the ShardingModule does not know. Import ` +
  'ShardingModule.forRoot() in the application and let Nest make the instance, as a provider with the ' +
  'default scope; calls work from onModuleInit on';

export const cannotGuard = (decorator: string, label: string): string =>
  `${decorator} on ${label} cannot work: the instance is frozen or sealed`;

// What happens while it runs

export const hookFailed = (label: string, decorator: string, reason: string): string =>
  `${decorator} on ${label} failed: ${reason}`;

export const perShardFailed = (label: string, failures: ReadonlyMap<number, unknown>): string => {
  const lines = [...failures].map(([item, error]) => `shard ${item}: ${reasonOf(error)}`);
  return `${label} failed for ${failures.size} shards\n${lines.join('\n')}`;
};

export const memoryInProduction = (name: string | undefined): string =>
  `${moduleLabel(name)}: registry.type is "memory" while NODE_ENV is "production": instances in other ` +
  'processes do not see each other, so each of them works all shards. Use { type: "zookeeper" } there';

export const seedViewTooLarge = (name: string | undefined, total: number, limit: number): string =>
  `${moduleLabel(name)}: seedView is true with a total of ${total}: the view is written only for totals ` +
  `up to ${limit}`;

export const notYetRegistered = (name: string | undefined, where: string, waited: number): string =>
  `${moduleLabel(name)} is not part of its group on ${where} after ${waited} ms. The application starts ` +
  'without shards; they come as soon as it is (startup.wait: true would make it wait)';

export const notYetObserving = (name: string | undefined, where: string, waited: number): string =>
  `${moduleLabel(name)} has not seen its group on ${where} after ${waited} ms. The application starts ` +
  'without knowing who owns what; it learns that as soon as it can (startup.wait: true would make it wait)';

export const startFailedLate = (
  name: string | undefined,
  role: ShardingRole,
  reason: string,
): string => {
  const consequence = role === 'member' ? 'this instance gets no shards' : 'it sees no owners';
  return `${moduleLabel(name)} could not start, ${consequence}: ${reason}`;
};

export const stopFailed = (name: string | undefined, reason: string): string =>
  `${moduleLabel(name)} did not leave its group in good order: ${reason}`;

export const stopOverran = (name: string | undefined, limit: number): string =>
  `${moduleLabel(name)} has not left its group within ${limit} ms; shutting down all the same`;

export const noShutdownHooks = (): string =>
  'Nothing listens to SIGTERM, so a stopped process leaves its shards without an owner until its session ' +
  'times out. Call app.enableShutdownHooks() before app.listen()';

export const notReady = (question: string): string =>
  `${question} has no answer yet: the number of shards is not known before the first plan was seen. ` +
  'Wait for whenReady()';

export function reasonOf(error: unknown): string {
  return typeof error === 'object' && error && 'message' in error
    ? String(error.message)
    : String(error);
}

export function stackOf(error: unknown): string | undefined {
  const stack = typeof error === 'object' && error && 'stack' in error ? error.stack : undefined;
  return typeof stack === 'string' ? stack : undefined;
}
