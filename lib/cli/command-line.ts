import { createRequire } from 'node:module';
import yargs, { type Argv } from 'yargs';
import { UsageError } from './exit-codes.js';
import type { Terminal } from './terminal.js';
import type { Verb } from './verb.js';
import { verbs } from './verbs.js';

const NAME = 'nest-sharding';

export interface Choice {
  readonly verb: Verb;
  readonly values: Readonly<Record<string, unknown>>;
}

/** What was asked for; undefined if it was help, the version or completion, which is then printed. */
export async function chooseVerb(
  args: readonly string[],
  terminal: Terminal,
): Promise<Choice | undefined> {
  let choice: Choice | undefined;
  const parser = commandLine(terminal, (chosen) => (choice = chosen));
  // With a callback it prints nothing by itself, except for completion.
  await parser.parseAsync(args, {}, (_error, _values, help) => {
    if (help) terminal.out(`${help}\n`);
  });
  if (choice) assertGivenOnce(choice);
  return choice;
}

function commandLine({ width }: Terminal, choose: (choice: Choice) => void): Argv {
  const parser = yargs()
    .scriptName(NAME)
    .version(version())
    .usage('$0 <verb> --connect host:2181 --namespace name')
    .options(COMMON)
    .parserConfiguration({ 'camel-case-expansion': false, 'parse-numbers': false })
    .completion('completion', 'A completion script for bash or zsh')
    .example('$0 status --namespace orders', 'who holds what')
    .example('$0 <verb> --help', 'more on a verb, with examples')
    .epilogue(
      'Credentials come from NEST_SHARDING_AUTH (user:password) or --auth-file, never from the command line.',
    )
    .demandCommand(1, 1, 'which verb? --help lists them', 'one verb at a time')
    .recommendCommands()
    .strict()
    .wrap(width)
    .exitProcess(false)
    .fail((message, error) => {
      // Its own errors are about the command line too, whatever they look like.
      if (error && error.name !== 'YError') throw error;
      throw new UsageError(problemOf(message));
    });
  for (const verb of verbs) {
    parser.command(
      verb.usage,
      verb.describe,
      (command) => describe(command, verb),
      (values) => choose({ verb, values }),
    );
  }
  return parser;
}

/** Without its value, `--namespace $UNSET` would be about the default group. */
const TEXT = { type: 'string', requiresArg: true } as const;

const COMMON = {
  connect: {
    ...TEXT,
    describe: 'h1:2181,h2:2181/chroot',
    defaultDescription: '$ZOOKEEPER_CONNECT',
  },
  namespace: { ...TEXT, describe: 'the group', default: 'dynamic-sharding' },
  'auth-file': { ...TEXT, describe: 'a file with user:password' },
  json: { type: 'boolean', describe: 'for machines', default: false },
  yes: { type: 'boolean', describe: 'change things without a question', default: false },
} as const;

function describe(command: Argv, verb: Verb): Argv {
  for (const [name, text] of Object.entries(verb.positionals ?? {})) {
    command.positional(name, { type: 'string', describe: text });
  }
  for (const [name, option] of Object.entries(verb.options ?? {})) {
    const { type = 'string', describe: text, default: value } = option;
    command.option(name, {
      describe: text,
      ...(type === 'boolean' ? { type } : TEXT),
      ...(type === 'array' ? { array: true, nargs: 1 } : {}),
      ...(value === undefined ? {} : { default: value }),
    } as const);
  }
  for (const [example, text] of verb.examples) command.example(`$0 ${example}`, text);
  return command;
}

/** Of two values one would be ignored, and nobody could say which was meant. */
function assertGivenOnce({ verb: { options = {} }, values }: Choice): void {
  for (const name of [...Object.keys(COMMON), ...Object.keys(options)]) {
    if (options[name]?.type === 'array' || !Array.isArray(values[name])) continue;
    throw new UsageError(`--${name} was given more than once`);
  }
}

/** Yargs counts where a person would rather know what to do. */
function problemOf(message: string): string {
  if (message.startsWith('Not enough non-option arguments')) {
    return 'an argument is missing; --help says which there are';
  }
  const [, option] = /^Not enough arguments following: (\S+)/.exec(message) ?? [];
  if (option !== undefined) return `--${option} lacks its value`;
  return message.split('\n')[0] ?? message;
}

/** Of this package, wherever it is installed and whatever folder the command runs in. */
function version(): string {
  const require = createRequire(import.meta.url);
  return (require('nestjs-dynamic-sharding/package.json') as { version: string }).version;
}
