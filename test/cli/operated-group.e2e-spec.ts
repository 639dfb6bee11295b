import { describe, expect, it } from '@jest/globals';
import { createInterface } from 'node:readline';
import type { GroupStatus, Prediction, Problem } from '../../lib/admin/index.js';
import type { HistoryEntry } from '../../lib/coordinator/history-entry.js';
import { FORMATION, type Group, TIMEOUT, withGroup } from '../e2e/group.js';
import { eventually } from '../kit/eventually.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';
import { command, type Outcome, outcomeOf, startCommand, withoutProgress } from './command.js';

const IDS = ['ada', 'ben', 'cleo', 'dora', 'emil', 'fay'];
const ZONES: Readonly<Record<string, string>> = { ada: 'a', ben: 'a', cleo: 'b', dora: 'b' };
/** Two sessions and leases have to end where a leader is killed while another one takes over. */
const SETTLED = { timeout: 45_000 };

/** What an operator types, what has to come of it, and whether the leader dies of it. */
interface Order {
  readonly line: string;
  readonly isDone: (held: Held, status: GroupStatus, before: GroupStatus) => boolean;
  readonly isLeaderKilled?: boolean;
  /** The question to `plan` that is about the same. */
  readonly foretoldBy?: string;
}

/** What each instance holds. */
type Held = (id: string) => readonly number[];

const sizes = (held: Held): number[] => IDS.map((id) => held(id).length);
const inAll = (held: Held): number => sizes(held).reduce((sum, size) => sum + size, 0);

const ORDERS: readonly Order[] = [
  { line: 'set-total 24', isDone: (held) => inAll(held) === 24, isLeaderKilled: true },
  {
    line: 'set-weight ben 3',
    isDone: (held) => held('ben').length === 9,
    foretoldBy: 'plan --weight ben=3',
  },
  {
    line: 'pin 5 cleo',
    isDone: (held) => held('cleo').includes(5),
    isLeaderKilled: true,
  },
  {
    line: 'set-needs 9 zone=c',
    isDone: (held) => [...held('emil'), ...held('fay')].includes(9) && inAll(held) === 24,
  },
  {
    line: 'set-needs 9 --clear',
    isDone: (held, { configuration }) => inAll(held) === 24 && !configuration?.items[9]?.needs,
  },
  {
    line: 'set-param 5 {"shop":"north"}',
    isDone: (_, { configuration }) =>
      JSON.stringify(configuration?.items[5]?.parameter) === '{"shop":"north"}',
  },
  {
    line: 'set-weight --item 7 4',
    isDone: (held, { configuration }) =>
      inAll(held) === 24 && configuration?.items[7]?.weight === 4,
  },
  {
    line: 'drain dora',
    isDone: (held) => held('dora').length === 0 && inAll(held) === 24,
    isLeaderKilled: true,
  },
  { line: 'disable --item 3', isDone: (held) => inAll(held) === 23 },
  {
    line: 'disable emil',
    isDone: (held) => held('emil').length === 0 && inAll(held) === 23,
    foretoldBy: 'plan --weight emil=0',
  },
  { line: 'cordon fay', isDone: (held) => held('fay').length > 0 },
  { line: 'pause', isDone: (_, { configuration }) => configuration?.paused === true },
  // Nothing moves, except what the killed leader had.
  {
    line: 'undrain dora',
    isDone: (held) => inAll(held) === 23,
    isLeaderKilled: true,
  },
  { line: 'resume', isDone: (held) => held('dora').length > 0, isLeaderKilled: true },
  { line: 'enable emil', isDone: (held) => held('emil').length > 0 },
  { line: 'uncordon fay', isDone: (held) => inAll(held) === 23 && held('fay').length > 0 },
  { line: 'enable --item 3', isDone: (held) => inAll(held) === 24 },
  { line: 'set-limit 2', isDone: (_, { configuration }) => configuration?.maxMoves === 2 },
  {
    line: 'unpin 5',
    isDone: (_, { configuration }) => configuration?.items[5]?.pin === undefined,
  },
  {
    line: 'set-spread zone',
    isDone: (held, { configuration }) => inAll(held) === 24 && configuration?.spreadOver === 'zone',
  },
  {
    line: 'set-total 12',
    isDone: (held) => inAll(held) === 12,
    isLeaderKilled: true,
  },
  {
    line: 'set-strategy rendezvous',
    isDone: (held, { configuration }) =>
      inAll(held) === 12 && configuration?.strategy === 'rendezvous',
  },
  {
    line: 'reshard',
    isDone: (held, { epoch }, before) => inAll(held) === 12 && epoch! > before.epoch!,
  },
];

describe('a group of six', () => {
  it(
    'does what an operator says while its leader is killed again and again',
    () =>
      withGroup({ connect: sharedConnect(), label: 'operated', total: 12 }, async (group) => {
        const start = (id: string) => group.start(id, { labels: { zone: ZONES[id] ?? 'c' } });
        await Promise.all(IDS.map(start));
        await group.settled(FORMATION);
        const watch = new Watch(group);
        try {
          for (const order of ORDERS) {
            await carryOut(group, watch, order, start);
            if (order.line === 'pause') await expectNoted(group, 'paused');
          }
          expect(codes(await examine(group))).not.toContain('paused');
          await expectTold(group);

          const tooEarly = await run(group, 'remove --yes');
          expect(tooEarly).toMatchObject({
            code: 1,
            err: expect.stringContaining('is lived in by'),
          });
          const { epoch, total, configuration } = await watch.end();
          expect(await answer(group, 'status')).toMatchObject({ epoch, total, configuration });
        } finally {
          watch.kill();
        }
        await Promise.all(group.running.map((member) => member.leave()));
        expect(await answer(group, 'remove --yes')).toEqual({ removed: true });
        expect(await run(group, 'status')).toMatchObject({ code: 4, out: '' });
        group.judge();
      }),
    2 * TIMEOUT,
  );
});

/** The command `watch`, which goes on through the deaths of all leaders. */
class Watch {
  readonly #seen: GroupStatus[] = [];
  readonly #process;
  readonly #outcome;

  constructor(group: Group) {
    this.#process = startCommand(['watch', '--json', ...at(group)]);
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      this.#seen.push(JSON.parse(line) as GroupStatus);
    });
    this.#outcome = outcomeOf(this.#process);
  }

  get last(): GroupStatus | undefined {
    return this.#seen.at(-1);
  }

  /** Whatever has become of it. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Ends it with Ctrl-C; it has seen everything. */
  async end(): Promise<GroupStatus> {
    this.#process.kill('SIGINT');
    expect(await this.#outcome).toMatchObject({ code: 0, err: '' });
    const states = this.#seen.map(({ state }) => state);
    expect(states).toEqual(expect.arrayContaining(['settled', 'moving']));
    expect(new Set(this.#seen.map(({ leader }) => leader?.id)).size).toBeGreaterThan(2);
    return this.last!;
  }
}

/** Gives an order, and waits until what has to come of it has come. */
async function carryOut(
  group: Group,
  watch: Watch,
  { line, isDone, isLeaderKilled = false, foretoldBy }: Order,
  start: (id: string) => Promise<unknown>,
): Promise<void> {
  const before = await eventually(() => watch.last ?? null, SETTLED);
  const foretold = foretoldBy && (await answer<Prediction>(group, foretoldBy));
  const ordered = run(group, `${line} --yes`);
  if (isLeaderKilled) {
    // While the order is on its way, or right after it.
    const leader = await eventually(
      () => group.running.find(({ leads }) => leads) ?? null,
      SETTLED,
    );
    await leader.kill();
    await start(leader.id!);
  }
  const { code, err } = await ordered;
  expect({ line, code, err: withoutProgress(err) }).toEqual({ line, code: 0, err: '' });
  const held: Held = (id) => group.running.find((member) => member.id === id)?.items ?? [];
  await eventually(
    () => {
      const status = watch.last!;
      const isSettled = status.state === 'settled' && status.instances.length === IDS.length;
      return isSettled && isDone(held, status, before);
    },
    { ...SETTLED, label: line },
  );
  if (foretold) {
    const loads = new Map(foretold.loads.map((load) => [load.id, load.after]));
    // Who neither holds nor may hold anything is not among them.
    expect(sizes(held)).toEqual(IDS.map((id) => loads.get(id) ?? 0));
  }
}

const codes = (problems: readonly Problem[]): string[] => problems.map(({ code }) => code);

/** What the doctor says, which may be that a busy machine is slow, but nothing that is broken. */
async function examine(group: Group): Promise<readonly Problem[]> {
  const { out, err } = await run(group, 'doctor --json');
  expect(err).toBe('');
  const { problems } = JSON.parse(out) as { problems: readonly Problem[] };
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return problems;
}

async function expectNoted(group: Group, code: string): Promise<void> {
  expect(codes(await examine(group))).toContain(code);
}

/** The history knows what was ordered, who was killed, and that several have led. */
async function expectTold(group: Group): Promise<void> {
  const { entries } = await answer<{ entries: HistoryEntry[] }>(group, 'history --limit 50');
  expect(entries.flatMap(({ why }) => why.crashed)).not.toEqual([]);
  expect(entries.flatMap(({ why }) => why.configured)).toEqual(
    expect.arrayContaining(['strategy', 'items', 'instances']),
  );
  expect(new Set(entries.map(({ leader }) => leader)).size).toBeGreaterThan(1);
}

async function answer<T>(group: Group, line: string): Promise<T> {
  const { code, out, err } = await run(group, `${line} --json`);
  expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
  return JSON.parse(out) as T;
}

const at = ({ options, namespace }: Group): string[] => [
  ...['--connect', options.connect],
  ...['--namespace', namespace],
];

function run(group: Group, line: string): Promise<Outcome> {
  return command([...line.split(' '), ...at(group)]);
}
