import { lastValueFrom, takeUntil, tap, timer } from 'rxjs';
import { aborted$ } from '../coordinator/async.js';
import { formatSomeItems } from '../admin/item-ranges.js';
import {
  type ChangeOptions,
  type ChangeResult,
  type GroupStatus,
  RefusedError,
  type ShardingAdmin,
  type ShardingTarget,
} from '../admin/index.js';
import { change, isWanted } from './asking.js';
import { EXIT, UsageError } from './exit-codes.js';
import {
  itemsOf,
  joiningOf,
  labelsOf,
  limitOfHistory,
  limitOf,
  numberOf,
  parameterOf,
  secondsOf,
  totalOf,
  weightOf,
} from './parse.js';
import type { Answer, Context, Given, Verb, VerbOption } from './verb.js';
import { doctorLines } from './views/doctor.view.js';
import { historyLines } from './views/history.view.js';
import { predictionLines } from './views/prediction.view.js';
import { statusLine, statusLines } from './views/status.view.js';
import { paragraph } from './views/table.js';
import { count, duration, plain } from './views/text.js';

const INSTANCE = 'the id of an instance';
const ITEMS = 'numbers and ranges of items, such as 0-3,7';
const FORCE: VerbOption = { type: 'boolean', describe: 'though it looks like a mistake' };
const CLEAR: VerbOption = { type: 'boolean', describe: 'take back what was said' };

/** A verb that changes the configuration and nothing else. */
function changing(
  verb: Omit<Verb, 'isChange' | 'run'>,
  make: (admin: ShardingAdmin, given: Given, options: ChangeOptions) => Promise<ChangeResult>,
): Verb {
  return {
    ...verb,
    options: { ...verb.options, force: FORCE },
    isChange: true,
    run: (context) => change(context, (options) => make(context.admin, context.given, options)),
  };
}

function targetOf(given: Given): ShardingTarget {
  const target = given.text('what');
  return given.flag('item') ? { items: itemsOf(target) } : { instance: target };
}

const TARGET = {
  positionals: { what: `${INSTANCE}; with --item, ${ITEMS}` },
  options: { item: { type: 'boolean', describe: 'it is about items' } },
} as const;

/** What is to be set, or undefined with --clear; one of both has to be there. */
function unlessCleared<T>(given: Given, name: string, parse: (text: string) => T): T | undefined {
  const value = given.optional(name);
  if (given.flag('clear') === (value !== undefined)) {
    throw new UsageError(`expected either <${name}> or --clear`);
  }
  return value === undefined ? undefined : parse(value);
}

export const verbs: readonly Verb[] = [
  {
    usage: 'status',
    describe: 'Who holds what, and why things wait',
    examples: [
      ['status', 'the group of the namespace dynamic-sharding'],
      ['status --json', 'the same for a script'],
    ],
    isChange: false,
    run: async ({ admin, terminal }) => {
      const status = await admin.status();
      return { json: status, lines: statusLines(status, terminal) };
    },
  },
  {
    usage: 'watch',
    describe: 'The status, live, until Ctrl-C',
    options: { timeout: { describe: 'end after so many seconds' } },
    examples: [
      ['watch', 'redrawn on a terminal, else a line for each change'],
      ['watch --json --timeout 60', 'a JSON document a line, for a minute'],
    ],
    isChange: false,
    run: watch,
  },
  {
    usage: 'plan',
    describe: 'What would move if; writes nothing',
    options: {
      join: { type: 'array', describe: 'an instance joins: its id, or id=weight' },
      leave: { type: 'array', describe: 'an instance leaves' },
      drain: { type: 'array', describe: 'an instance is drained' },
      total: { describe: 'the total becomes this' },
      weight: { type: 'array', describe: 'an instance gets another weight: id=weight' },
    },
    examples: [
      ['plan --join dora', 'what a further instance would get'],
      ['plan --leave ada', 'who would have to take over'],
      ['plan --join eve --total 8', 'several changes at once'],
    ],
    isChange: false,
    run: async ({ admin, given, terminal }) => {
      const total = given.optional('total');
      const prediction = await admin.plan({
        join: given.list('join').map(joiningOf),
        leave: given.list('leave'),
        drain: given.list('drain'),
        weights: Object.fromEntries(given.list('weight').map(weightOf)),
        ...(total === undefined ? {} : { total: totalOf(total) }),
      });
      return { json: prediction, lines: predictionLines(prediction, terminal) };
    },
  },
  {
    usage: 'history',
    describe: 'The last changes, and what they took',
    options: { limit: { describe: 'how many, 10 unless said' } },
    examples: [['history --limit 3', 'the last three']],
    isChange: false,
    run: async ({ admin, given, terminal }) => {
      const entries = await admin.history(limitOfHistory(given.optional('limit')));
      return { json: { entries }, lines: historyLines(entries, terminal) };
    },
  },
  {
    usage: 'doctor',
    describe: 'Looks for what is wrong',
    examples: [['doctor', 'exit code 1 if there is more than notes']],
    isChange: false,
    run: async ({ admin, terminal }) => {
      const problems = await admin.doctor();
      const healthy = problems.every(({ severity }) => severity === 'note');
      return {
        json: { healthy, problems },
        lines: doctorLines(problems, terminal),
        exitCode: healthy ? EXIT.done : EXIT.failed,
      };
    },
  },
  {
    usage: 'reshard',
    describe: 'Asks the leader to look anew',
    examples: [['reshard --yes', 'without a question']],
    isChange: true,
    run: async (context) => {
      if (!(await isWanted(context, 'Ask for a reshard?'))) throw calledOff();
      await context.admin.reshard();
      return { json: { requested: true }, lines: ['A reshard was asked for.'] };
    },
  },
  changing(
    {
      usage: 'set-total <total>',
      describe: 'How many items there are',
      positionals: { total: 'a whole number, or "instances" for as many as there are' },
      examples: [['set-total 24 --yes', 'everybody lets go of everything first']],
    },
    (admin, given, options) => admin.setTotal(totalOf(given.text('total')), options),
  ),
  changing(
    {
      usage: 'set-strategy <strategy>',
      describe: 'What decides who gets which item',
      positionals: { strategy: 'the name of a strategy' },
      examples: [
        ['set-strategy rendezvous', 'one that is built in'],
        ['set-strategy ours --force', "one of the application's own"],
      ],
    },
    (admin, given, options) => admin.setStrategy(given.text('strategy'), options),
  ),
  changing(
    {
      usage: 'set-param <items> [value]',
      describe: 'What items hand to their holder',
      positionals: { items: ITEMS, value: 'JSON, or any other text' },
      options: { clear: CLEAR },
      examples: [
        ['set-param 0-3 eu-west', 'a text for each of four items'],
        [`set-param 7 '{"a":1}'`, 'an object'],
        ['set-param 7 --clear', 'nothing any more'],
      ],
    },
    (admin, given, options) => {
      const value = unlessCleared(given, 'value', parameterOf);
      return admin.setParam(itemsOf(given.text('items')), value, options);
    },
  ),
  changing(
    {
      usage: 'set-weight <what> <weight>',
      describe: 'Weight of an instance, or of items',
      positionals: { ...TARGET.positionals, weight: 'a number, or "default" to take it back' },
      options: TARGET.options,
      examples: [
        ['set-weight ada 2', 'ada gets twice as much as others'],
        ['set-weight ada 0', 'ada holds nothing'],
        ['set-weight --item 0-3 5', 'four heavy items'],
        ['set-weight ada default', 'what ada says itself counts again'],
      ],
    },
    (admin, given, options) => {
      const weight = given.text('weight');
      const value = weight === 'default' ? undefined : numberOf('the weight', weight);
      return admin.setWeight(targetOf(given), value, options);
    },
  ),
  changing(
    {
      usage: 'set-needs <items> [need..]',
      describe: 'Labels that holders must have',
      positionals: { items: ITEMS, need: 'a label such as zone=a' },
      options: { clear: CLEAR },
      examples: [
        ['set-needs 0-3 zone=a', 'only where it is so'],
        ['set-needs 0-3 --clear', 'any instance will do'],
      ],
    },
    (admin, given, options) => {
      const labels = given.list('need');
      if (given.flag('clear') === labels.length > 0) {
        throw new UsageError('expected either labels or --clear');
      }
      const needs = labels.length > 0 ? labelsOf(labels) : undefined;
      return admin.setNeeds(itemsOf(given.text('items')), needs, options);
    },
  ),
  changing(
    {
      usage: 'set-spread [label]',
      describe: 'Spreads over zones, or other labels',
      positionals: { label: 'the key of a label' },
      options: { clear: CLEAR },
      examples: [
        ['set-spread zone', 'evenly over the zones'],
        ['set-spread --clear', 'over the instances alone'],
      ],
    },
    (admin, given, options) => {
      const label = unlessCleared(given, 'label', (text) => text);
      return admin.setSpread(label, options);
    },
  ),
  changing(
    {
      usage: 'set-limit [limit]',
      describe: 'How many may move at once',
      positionals: { limit: 'a number, or a share such as 25%' },
      options: { clear: CLEAR },
      examples: [
        ['set-limit 10', 'ten at a time'],
        ['set-limit 25%', 'a quarter of them'],
        ['set-limit --clear', 'as many as need to'],
      ],
    },
    (admin, given, options) => admin.setLimit(unlessCleared(given, 'limit', limitOf), options),
  ),
  changing(
    {
      usage: 'pin <items> <instance>',
      describe: 'Ties items to an instance',
      positionals: { items: ITEMS, instance: INSTANCE },
      examples: [['pin 0-3 ada', 'ada holds these four']],
    },
    (admin, given, options) =>
      admin.pin(itemsOf(given.text('items')), given.text('instance'), options),
  ),
  changing(
    {
      usage: 'unpin <items>',
      describe: 'Lets anybody hold items again',
      positionals: { items: ITEMS },
      examples: [['unpin 0-3', 'these four']],
    },
    (admin, given, options) => admin.unpin(itemsOf(given.text('items')), options),
  ),
  changing(
    {
      usage: 'disable <what>',
      describe: 'Shuts out an instance, or items',
      ...TARGET,
      examples: [
        ['disable ada', 'an instance'],
        ['disable --item 7', 'an item'],
      ],
    },
    (admin, given, options) => admin.disable(targetOf(given), options),
  ),
  changing(
    {
      usage: 'enable <what>',
      describe: 'Takes a disable back',
      ...TARGET,
      examples: [
        ['enable ada', 'an instance'],
        ['enable --item 7', 'an item'],
      ],
    },
    (admin, given, options) => admin.enable(targetOf(given), options),
  ),
  changing(
    {
      usage: 'cordon <instance>',
      describe: 'Keeps what it has, gets nothing new',
      positionals: { instance: INSTANCE },
      examples: [['cordon ada', 'before looking into what ails it']],
    },
    (admin, given, options) => admin.cordon(given.text('instance'), options),
  ),
  changing(
    {
      usage: 'uncordon <instance>',
      describe: 'Takes a cordon back',
      positionals: { instance: INSTANCE },
      examples: [['uncordon ada', 'it gets its share again']],
    },
    (admin, given, options) => admin.uncordon(given.text('instance'), options),
  ),
  {
    usage: 'drain <instance>',
    describe: 'Empties an instance in good order',
    positionals: { instance: INSTANCE },
    options: {
      wait: { type: 'boolean', default: true, describe: 'wait; --no-wait to return at once' },
      timeout: { describe: 'wait for so many seconds, 300 unless said' },
      force: FORCE,
    },
    examples: [
      ['drain ada --yes', 'before ada is taken away'],
      ['drain ada --no-wait', 'return when the wish is stored'],
    ],
    isChange: true,
    run: drain,
  },
  changing(
    {
      usage: 'undrain <instance>',
      describe: 'Takes a drain back',
      positionals: { instance: INSTANCE },
      examples: [['undrain ada', 'it gets its share again']],
    },
    (admin, given, options) => admin.undrain(given.text('instance'), options),
  ),
  changing(
    {
      usage: 'pause',
      describe: 'What is held stays where it is',
      examples: [['pause', 'before a deployment']],
    },
    (admin, _, options) => admin.pause(options),
  ),
  changing(
    {
      usage: 'resume',
      describe: 'Takes a pause back',
      examples: [['resume', 'everything moves again']],
    },
    (admin, _, options) => admin.resume(options),
  ),
  {
    usage: 'remove',
    describe: 'Deletes a namespace nobody lives in',
    examples: [['remove', 'asks first']],
    isChange: true,
    run: async (context) => {
      const { admin, terminal } = context;
      const question = `Delete all that is left of ${plain(admin.namespace)}?`;
      const isRemoved = await admin.remove({
        confirm: (wait) => {
          const warning = `Somebody crashed here: its lease is waited out first (${duration(wait)}).`;
          if (wait > 0) terminal.err(`${warning}\n`);
          return isWanted(context, question);
        },
      });
      if (!isRemoved) throw calledOff();
      return { json: { removed: true }, lines: [`${plain(admin.namespace)} was removed.`] };
    },
  },
];

const calledOff = (): RefusedError => new RefusedError('Called off; nothing was changed');

const CLEAR_SCREEN = '\u001B[H\u001B[J';

async function watch({ admin, given, terminal }: Context): Promise<undefined> {
  const timeout = secondsOf(given.optional('timeout'));
  const shown = (status: GroupStatus): string => {
    if (given.flag('json')) return JSON.stringify(status);
    if (!terminal.isLive) return statusLine(status);
    return CLEAR_SCREEN + statusLines(status, terminal).join('\n');
  };
  const shown$ = admin.watch().pipe(
    tap((status) => terminal.out(`${shown(status)}\n`)),
    takeUntil(aborted$(terminal.interruption())),
  );
  const ended$ = timeout === undefined ? shown$ : shown$.pipe(takeUntil(timer(timeout)));
  await lastValueFrom(ended$, { defaultValue: undefined });
  return undefined;
}

async function drain(context: Context): Promise<Answer> {
  const { admin, given, terminal } = context;
  const instance = given.text('instance');
  const timeout = secondsOf(given.optional('timeout')) ?? 300_000;
  const { json: result, lines } = await change(context, (options) =>
    admin.drain(instance, options),
  );
  if (!given.flag('wait')) return { json: result, lines };

  const signal = terminal.interruption();
  const { items } = await admin.whenEmpty(instance, { timeout, signal }, (progress) => {
    if (given.flag('json') || progress.items.length === 0) return;
    const why = progress.why === undefined ? '' : `: ${progress.why}`;
    const line = `${count(progress.items.length, 'item')} left${plain(why)}`;
    terminal.err(`${paragraph(line, 0, terminal).join('\n')}\n`);
  });
  const drained = items.length === 0;
  const json = { ...(result as object), instance, drained, items };
  if (drained) return { json, lines: [...lines, `${plain(instance)} holds nothing any more.`] };
  const left = `${plain(instance)} still holds ${formatSomeItems(items)}; the drain goes on, "undrain" takes it back`;
  return {
    json,
    lines: [...lines, ...paragraph(left, 0, terminal)],
    exitCode: signal.aborted ? EXIT.interrupted : EXIT.failed,
  };
}
