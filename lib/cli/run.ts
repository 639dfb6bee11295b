import { readFile } from 'node:fs/promises';
import type { ShardingAdmin, ShardingAdminOptions } from '../admin/index.js';
import { assertCanAsk } from './asking.js';
import { chooseVerb } from './command-line.js';
import { exitCodeOf, EXIT, lineOf, UsageError } from './exit-codes.js';
import type { Terminal } from './terminal.js';
import { type Answer, Given, type Verb } from './verb.js';

export type Connect = (options: ShardingAdminOptions) => Promise<ShardingAdmin>;

/** The whole command: from its arguments to its exit code. Never rejects. */
export async function run(
  args: readonly string[],
  terminal: Terminal,
  connect: Connect,
): Promise<number> {
  try {
    const choice = await chooseVerb(args, terminal);
    return choice
      ? await obey(choice.verb, new Given(choice.values), terminal, connect)
      : EXIT.done;
  } catch (error) {
    terminal.err(`nest-sharding: ${lineOf(error)}\n`);
    return exitCodeOf(error);
  }
}

async function obey(
  verb: Verb,
  given: Given,
  terminal: Terminal,
  connect: Connect,
): Promise<number> {
  if (verb.isChange) assertCanAsk(terminal, given.flag('yes'));
  const admin = await connect(await addressOf(given, terminal));
  try {
    const answer = await verb.run({ admin, given, terminal });
    if (answer) say(answer, given.flag('json'), terminal);
    return answer?.exitCode ?? EXIT.done;
  } finally {
    await admin.close();
  }
}

function say({ json, lines }: Answer, isJson: boolean, terminal: Terminal): void {
  const text = isJson ? JSON.stringify(json, null, 2) : lines.join('\n');
  terminal.out(`${text}\n`);
}

async function addressOf(given: Given, { environment }: Terminal): Promise<ShardingAdminOptions> {
  const connect = given.optional('connect') ?? environment['ZOOKEEPER_CONNECT'];
  if (!connect) {
    throw new UsageError('where is ZooKeeper? Say --connect host:2181, or set ZOOKEEPER_CONNECT');
  }
  const credentials = await credentialsOf(given, environment);
  return {
    connect,
    namespace: given.text('namespace'),
    ...(credentials === undefined ? {} : { auth: { credentials } }),
  };
}

/** Never from the command line, which every user of a machine can see. */
async function credentialsOf(
  given: Given,
  environment: Terminal['environment'],
): Promise<string | undefined> {
  const file = given.optional('auth-file');
  if (file === undefined) return environment['NEST_SHARDING_AUTH'] || undefined;
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw new UsageError(`--auth-file cannot be read: ${(error as Error).message}`);
  }
}
