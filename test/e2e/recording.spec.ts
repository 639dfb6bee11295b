import { describe, expect, it } from '@jest/globals';
import { check } from '../simulation/checker.js';
import type { Line } from './fixtures/member.protocol.js';
import { merge, Recording } from './recording.js';

type Shards = readonly (readonly [number, string, number])[];

const state = (who: string, t: number, o: Shards, d: Shards = []): Line => ({
  ...{ k: 'state', who, t, p: t - 2, o, d, leads: false, status: 'ready' },
});

function recorded(who: string, lines: readonly Line[]): Recording {
  const recording = new Recording(who);
  for (const line of lines) recording.learn(line);
  return recording;
}

describe('what a member says', () => {
  const giver = recorded('a', [
    state('a', 10, [[0, '1', 2]]),
    state('a', 100, [], [[0, '1', 2]]),
    state('a', 200, []),
  ]);

  it('tells what is owned from what is still being drained', () => {
    expect(giver.holdings).toEqual([{ item: 0, token: 1n, from: 10, to: 98 }]);
    expect(giver.items).toEqual([]);
  });

  it.each([
    { at: 150, violations: ['a shard is never held by two'] },
    { at: 199, violations: [] },
  ])('counts a hand-over before the drain has ended as an overlap: $at', ({ at, violations }) => {
    const taker = recorded('b', [state('b', at, [[0, '2', 2]])]);
    const history = merge([giver.events(false), taker.events(false)]);
    expect(check(history).map(({ rule }) => rule)).toEqual(violations);
  });
});
