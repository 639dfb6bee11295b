import { describe, expect, it } from '@jest/globals';
import { check, describeViolation, MISTAKE } from './checker.js';
import { judge, runSeeds } from './seed-runner.js';
import { SeedThread } from './seed-thread.js';
import { simulate } from './simulation.js';

const SEEDS = 1_000;

describe('the simulation', () => {
  it('gives the same history for the same seed', async () => {
    const [one, two] = [await simulate(7), await simulate(7)];
    expect(two.history).toEqual(one.history);
    expect(one.history.some(({ kind }) => kind === 'acquired')).toBe(true);
  });

  it(
    `keeps the guarantee in ${SEEDS} seeds of clusters with faults`,
    async () => {
      const failed = await runSeeds({ from: 1, count: SEEDS });
      expect(
        failed.map(({ seed, violations }) => `${seed}: ${describeViolation(violations[0]!)}`),
      ).toEqual([]);
    },
    10 * 60_000,
  );
});

describe('a run of seeds', () => {
  const verdictOf = async (code: string, patience: number): Promise<unknown> => {
    const thread = new SeedThread(code, { eval: true });
    const verdict = await judge(thread, 4711, patience);
    await thread.end();
    return verdict;
  };
  const failure = (text: string) => ({
    seed: 4711,
    violations: [expect.objectContaining({ text })],
  });

  it('names the seed that throws, and the one that never ends', async () => {
    const onSeed = (code: string): string =>
      `require('node:worker_threads').parentPort.on('message', () => { ${code} })`;
    expect(await verdictOf(onSeed("throw new Error('boom')"), 60_000)).toEqual(
      failure('Error: boom'),
    );
    expect(await verdictOf(onSeed('for (;;);'), 50)).toEqual(failure('not within 0.05 s'));
  });
});

describe('the checker', () => {
  const owns = (time: number, who: string, token: bigint, item = 0, total = 1) =>
    ({ kind: 'owns', time, who, item, token, total }) as const;
  const rules = (...history: Parameters<typeof check>[0][number][]): string[] =>
    check(history).map(({ rule }) => rule);

  it('finds an item that two own', () => {
    expect(rules(owns(1, 'a', 1n), owns(2, 'b', 2n), owns(3, 'a', 1n))).toEqual([
      'a shard is never held by two',
    ]);
    expect(rules(owns(1, 'a', 1n), owns(2, 'b', 2n))).toEqual([]);
  });

  it('finds two totals at once', () => {
    expect(rules(owns(1, 'a', 1n), owns(2, 'b', 2n, 1, 2), owns(3, 'a', 1n))).toEqual([
      'nobody works under two totals at once',
    ]);
  });

  it('finds a token that does not rise', () => {
    const acquired = (time: number, token: bigint) =>
      ({ kind: 'acquired', time, who: `i${time}`, item: 0, token, total: 1 }) as const;
    expect(rules(acquired(1, 5n), acquired(2, 5n))).toEqual(['tokens rise with every holding']);
    expect(rules(acquired(1, 5n), acquired(2, 6n))).toEqual([]);
  });

  it('finds two leaders, and a term that does not rise', () => {
    const leader = (time: number, who: string, term: bigint) =>
      ({ kind: 'leader', time, who, term }) as const;
    expect(
      rules(leader(1, 'a', 1n), leader(2, 'b', 2n), { kind: 'leads', time: 3, who: 'a' }),
    ).toEqual(['at most one leader']);
    expect(rules(leader(1, 'a', 2n), leader(2, 'b', 2n))).toEqual(['terms rise']);
  });

  const acquired = (time: number, item: number, total = 2) =>
    ({ kind: 'acquired', time, who: 'a', item, token: BigInt(time), total }) as const;

  it('finds work of one total that begins before work of another has ended', () => {
    expect(rules(acquired(1, 0), acquired(2, 1, 3))).toEqual([
      'nobody works under two totals at once',
    ]);
  });

  it('finds claims that return', () => {
    const lost = { kind: 'disowns', time: 2, who: 'a', item: 0, token: 1n } as const;
    expect(rules(owns(1, 'a', 1n), lost, owns(3, 'a', 1n))).toEqual([
      'what is lost is not taken up again',
    ]);
    expect(rules(owns(1, 'a', 1n), lost, owns(3, 'a', 3n))).toEqual([]);
    const leads = (time: number) => ({ kind: 'leads', time, who: 'a' }) as const;
    expect(rules(leads(1), { kind: 'leads-no-more', time: 2, who: 'a' }, leads(3))).toEqual([
      'what is lost is not taken up again',
    ]);
  });

  it('finds a worker that is told while its shard is owned, and a release before its end', () => {
    const told = (isOwned: boolean, isInTime: boolean) =>
      ({ kind: 'told', time: 2, who: 'a', item: 0, token: 1n, isOwned, isInTime }) as const;
    const over = (time: number, kind: 'ended' | 'released') =>
      ({ kind, time, who: 'a', item: 0, token: 1n }) as const;
    const announced = { kind: 'started', time: 3, who: 'a' } as const;
    const outOfOrder = ['hooks run in order and in pairs'];
    expect(rules(acquired(1, 0), told(true, true))).toEqual(outOfOrder);
    expect(rules(acquired(1, 0), told(false, true), announced, over(3, 'released'))).toEqual(
      outOfOrder,
    );
    expect(rules(acquired(1, 0), told(false, false), announced, over(3, 'released'))).toEqual([]);
    expect(
      rules(acquired(1, 0), told(false, true), announced, over(3, 'ended'), over(4, 'released')),
    ).toEqual([]);
  });

  it('finds exercises in which too much moves, or that somebody does not hear of', () => {
    const exercise = { kind: 'exercise', time: 1, name: 'x', everyone: ['a'], moves: 1 } as const;
    const over = { kind: 'exercised', time: 9 } as const;
    const started = { kind: 'started', time: 2, who: 'a' } as const;
    const completed = { kind: 'completed', time: 4, who: 'a' } as const;
    expect(rules(exercise, started, acquired(3, 0), completed, over)).toEqual([]);
    expect(rules(exercise, started, acquired(3, 0), acquired(4, 1), completed, over)).toEqual([
      'only what must move moves',
    ]);
    expect(rules(exercise, acquired(3, 0), over)).toEqual(['everyone hears of a rebalance']);
  });

  it('finds exercises that end otherwise than foretold, or disturb who is to be left alone', () => {
    const exercise = { kind: 'exercise', time: 1, name: 'x', everyone: [], moves: 1 } as const;
    const over = { kind: 'exercised', time: 9, owners: ['a', '-'] } as const;
    const foretold = (...owners: string[]) => ({ ...exercise, foretold: owners });
    expect(rules(foretold('a', '-'), acquired(3, 0), over)).toEqual([]);
    expect(rules(foretold('a', 'b'), acquired(3, 0), over)).toEqual(['what is foretold happens']);
    expect(rules({ ...exercise, idle: ['a'] }, acquired(3, 0), over)).toEqual([
      'whoever is cordoned gets nothing new',
    ]);
  });

  it('finds more shards drained at once than may be', () => {
    const exercise = { kind: 'exercise', time: 1, name: 'x', everyone: [], moves: 0 } as const;
    const told = (time: number, item: number) =>
      ({ kind: 'told', time, who: 'a', item, token: 1n, isOwned: false, isInTime: true }) as const;
    const released = { kind: 'released', time: 4, who: 'a', item: 0, token: 1n } as const;
    const over = { kind: 'exercised', time: 9 } as const;
    const found = (...events: Parameters<typeof rules>): string[] =>
      rules({ ...exercise, atOnce: 1 }, ...events, over).filter((rule) => rule.includes('at once'));
    expect(found(told(2, 0), released, told(5, 1))).toEqual([]);
    expect(found(told(2, 0), told(3, 1), released)).toEqual(['no more move at once than may']);
  });

  const ended = (time: number, kind: 'ended' | 'freed') =>
    ({ kind, time, who: 'a', item: 0, token: 1n }) as const;
  const toldInTime = (isInTime = true) =>
    ({ kind: 'told', time: 2, who: 'a', item: 0, token: 1n, isOwned: false, isInTime }) as const;
  const released = (time: number, rest: object = {}) =>
    ({ kind: 'released', time, who: 'a', item: 0, token: 1n, ...rest }) as const;
  const started = (time: number) => ({ kind: 'started', time, who: 'a' }) as const;

  it('finds releases that were not announced, unless there was no time or need', () => {
    const before = [acquired(1, 0), toldInTime(), ended(3, 'ended')];
    expect(rules(...before, released(4))).toEqual(['hooks run in order and in pairs']);
    expect(rules(...before, started(3), released(4))).toEqual([]);
    expect(rules(...before, released(4, { isLate: true }))).toEqual([]);
    expect(rules(...before, released(4, { reason: 'shutdown' }))).toEqual([]);
  });

  it('finds whoever leaves while it holds or leads', () => {
    const left = { kind: 'left', time: 9, who: 'a' } as const;
    expect(rules(acquired(1, 0), left)).toEqual(['hooks run in order and in pairs']);
    expect(rules(acquired(1, 0), { ...left, kind: 'died' })).toEqual([]);
    expect(rules({ kind: 'leader', time: 1, who: 'a', term: 1n }, left)).toEqual([
      'hooks run in order and in pairs',
    ]);
  });

  it('finds work that goes on after its end, unless its time was over', () => {
    const written = { kind: 'write', time: 5, who: 'a', item: 0, token: 1n } as const;
    const over = [started(3), released(4), { ...written, accepted: false }];
    expect(rules(acquired(1, 0), toldInTime(), ended(3, 'ended'), ...over)).toEqual([
      'hooks run in order and in pairs',
    ]);
    expect(rules(acquired(1, 0), toldInTime(false), ...over)).toEqual([]);
  });

  it('finds an acknowledgement before the end of the work', () => {
    const tooEarly = ['an acknowledged release is never followed by work'];
    expect(rules(acquired(1, 0), toldInTime(), ended(3, 'freed'))).toEqual(tooEarly);
    expect(rules(acquired(1, 0), ended(3, 'freed'))).toEqual(tooEarly);
    expect(rules(acquired(1, 0), toldInTime(false), ended(3, 'freed'))).toEqual([]);
    const over = [acquired(1, 0), toldInTime(), ended(3, 'ended'), ended(4, 'freed')];
    expect(rules(...over)).toEqual([]);
    expect(rules(...over, owns(5, 'a', 1n))).toEqual(tooEarly);
  });

  it('finds holdings at rest that no hook was told of, and answers that do not fit', () => {
    const rest = (...holders: string[]) => ({ kind: 'exercised', time: 9, holders }) as const;
    expect(rules(acquired(1, 0), rest('a', '-'))).toEqual([]);
    expect(rules(acquired(1, 0), rest('a', 'a'))).toEqual(['hooks run in order and in pairs']);
    expect(rules(acquired(1, 0), rest('-'))).toEqual(['hooks run in order and in pairs']);
    expect(rules({ kind: 'contradiction', time: 1, who: 'a', text: 'x' })).toEqual([
      'all answers agree',
    ]);
  });

  it('finds a holder that writes after its successor, even with the same token', () => {
    const write = (time: number, who: string, token: bigint) =>
      ({ kind: 'write', time, who, item: 0, token, accepted: true }) as const;
    expect(rules(write(1, 'a', 5n), write(2, 'b', 5n), write(3, 'a', 5n))).toEqual([
      'no stale write is accepted',
    ]);
    expect(rules(write(1, 'a', 5n), write(2, 'b', 6n), write(3, 'a', 7n))).toEqual([]);
  });

  it('finds hooks without their counterpart', () => {
    expect(rules({ kind: 'completed', time: 1, who: 'a' })).toEqual([
      'hooks run in order and in pairs',
    ]);
    expect(rules({ kind: 'released', time: 1, who: 'a', item: 0, token: 1n })).toEqual([
      'hooks run in order and in pairs',
    ]);
  });

  it('finds a mistake of the code that was caught and logged', () => {
    const note = (text: string) => ({ kind: 'note', time: 1, text }) as const;
    expect(rules(note('i0.1: ReferenceError: x is not defined'))).toEqual([MISTAKE]);
    expect(rules(note('i0.1: TypeError: x is not a function'))).toEqual([MISTAKE]);
    expect(rules(note('i0.1: Error: as drawn'))).toEqual([]);
  });

  it('finds a stale write that was accepted, and a group that is stuck', () => {
    const write = (time: number, token: bigint, accepted: boolean) =>
      ({ kind: 'write', time, who: 'a', item: 0, token, accepted }) as const;
    expect(rules(write(1, 2n, true), write(2, 1n, true))).toEqual(['no stale write is accepted']);
    expect(rules(write(1, 2n, true), write(2, 1n, false))).toEqual([]);
    expect(rules({ kind: 'stuck', time: 1, text: 'x' })).toEqual(['nothing wedges']);
  });
});
