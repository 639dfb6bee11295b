import { describe, expect, it } from '@jest/globals';
import type { Event } from '../simulation/history.js';
import { STALE_WRITE } from '../simulation/checker.js';
import { EARLY_SUCCESSOR, gapsWithin, judge, longestGaps, WriteLog } from './judge.js';

const write = (who: string, time: number, token: bigint, accepted = true) => ({
  ...{ who, time, item: 0, token, accepted },
});
const written = (...parts: Parameters<typeof write>): Event => ({
  kind: 'write',
  ...write(...parts),
});

const NOBODY: ReadonlySet<string> = new Set();

describe('the judge of chaos', () => {
  it('finds a holder that writes after its successor, even with the same token', () => {
    const history = [written('a', 1, 5n), written('b', 2, 5n), written('a', 3, 5n)];
    expect(judge(history, NOBODY)).toMatchObject([{ time: 3, rule: STALE_WRITE }]);
  });

  it('minds no late write that was refused, and no new holding of a former holder', () => {
    const history = [
      written('a', 1, 5n),
      written('b', 2, 6n),
      written('a', 3, 5n, false),
      written('a', 4, 7n),
    ];
    expect(judge(history, NOBODY)).toEqual([]);
  });

  it('finds a successor that writes while an orderly holder still drains', () => {
    const history = [written('a', 1, 5n), written('b', 2, 6n), written('a', 3, 5n, false)];
    expect(judge(history, new Set(['a', 'b']))).toMatchObject([{ time: 3, rule: EARLY_SUCCESSOR }]);
    expect(judge(history, new Set(['b']))).toEqual([]);
  });

  it('keeps of equal writes in a row the first and the last', () => {
    const log = new WriteLog();
    log.add([write('a', 1, 5n), write('a', 2, 5n)]);
    log.add([write('a', 3, 5n), write('b', 4, 6n), write('a', 5, 5n, false)]);
    expect(log.events.map(({ time }) => time)).toEqual([1, 3, 4, 5]);
    expect([log.accepted, log.refused]).toEqual([4, 1]);
  });

  it('measures the time between two holdings, of items that there are', () => {
    const holdings = [
      { item: 0, token: 1n, from: 0, to: 100 },
      { item: 0, token: 2n, from: 350, to: 900 },
      { item: 7, token: 1n, from: 0, to: 0 },
      { item: 7, token: 2n, from: 900, to: 900 },
    ];
    expect(gapsWithin(holdings, 0, 1_000, 2)).toEqual([{ item: 0, from: 100, to: 350 }]);
  });

  it('counts a gap for the faults of that time, apart if there was only one', () => {
    const faults = [
      { name: 'kill', victims: 'a', begun: 1_000, ended: 1_500 },
      { name: 'stop', victims: 'b', begun: 9_000, ended: 12_000 },
      { name: 'cut', victims: 'c', begun: 10_000, ended: 11_000 },
    ];
    const gaps = [
      { item: 0, from: 990, to: 4_000 },
      { item: 1, from: 10_500, to: 10_700 },
    ];
    const shared = { alone: 0, amongOthers: 200 };
    expect(Object.fromEntries(longestGaps(gaps, faults))).toEqual({
      kill: { alone: 3_010, amongOthers: 0 },
      stop: shared,
      cut: shared,
    });
  });
});
