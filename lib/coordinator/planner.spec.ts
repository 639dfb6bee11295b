import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { factsOf, member, planOf, wordsOf } from '../../test/kit/plans.js';
import { type GroupConfig, moveLimit, newConfig } from './group-config.js';
import type { MemberRecord } from './member-record.js';
import { type AwayMember, type Plan, shareOf } from './plan.js';
import { type LeaderFacts, next, type Step } from './planner.js';

const config = (total: GroupConfig['total'], change: Partial<GroupConfig> = {}): GroupConfig => ({
  ...newConfig(total, 'sticky'),
  ...change,
});
const namesOf = (plan: Plan | undefined): string[] | undefined =>
  plan?.members.map(({ incarnation }) => incarnation);

interface Expected {
  /** The items of the plan that is written; undefined: nothing is. */
  readonly writes: string | undefined;
  readonly settled?: boolean;
  readonly members?: readonly string[];
  readonly nextTotal?: number;
  readonly acknowledgements?: readonly string[];
  readonly dead?: readonly string[];
  readonly permission?: boolean;
  /** For each item the id of whom it is kept for, or `-`. */
  readonly homes?: string;
}

interface Case {
  readonly name: string;
  readonly plan: Plan | undefined;
  readonly members: readonly MemberRecord[];
  readonly total?: GroupConfig['total'];
  readonly config?: Partial<GroupConfig>;
  readonly facts?: Partial<LeaderFacts>;
  readonly expected: Expected;
}

const unsettled = { settled: false };
/** Wants to be waited for. */
const rejoins = { rejoinWindow: 9_000 };
const awaits = (id: string, lends = false): AwayMember => ({
  id,
  window: 9_000,
  lends,
  weight: 1,
  labels: {},
});
/** A plan in which these items are kept for b. */
function keptForB(items: string, homes: readonly number[], lends = false): Plan {
  return planOf(items, { away: [awaits('b', lends)], homes: Int32Array.from(homes) });
}
/** The same with members of whom the plan knows that they want to be waited for. */
function withRejoin(plan: Plan, lends = false): Plan {
  const { id: _, ...rejoin } = awaits('', lends);
  return { ...plan, members: plan.members.map((each) => ({ ...each, rejoin })) };
}

/** By the rule that they are about. Without `total`, the plan's own. */
const cases: Record<string, Case[]> = {
  'the first plan': [
    {
      name: 'is not made while somebody may hold something',
      plan: undefined,
      members: [member('a1')],
      total: 2,
      expected: { writes: undefined },
    },
    {
      name: 'grants everything at once',
      plan: undefined,
      members: [member('b1'), member('a1')],
      total: 4,
      facts: { mayCreate: true },
      expected: { writes: 'a1:1 a1:1 b1:1 b1:1', settled: true, members: ['a1', 'b1'] },
    },
    {
      name: 'is made for nobody as well',
      plan: undefined,
      members: [],
      total: 2,
      facts: { mayCreate: true },
      expected: { writes: '- -', settled: true, members: [] },
    },
  ],
  'revoke first': [
    {
      name: 'marks what has to move, and leaves the rest alone',
      plan: planOf('a1:5 a1:5 a1:5'),
      members: [member('a1'), member('b1')],
      expected: { writes: 'a1:5 a1:5 a1:5!6', settled: false, members: ['a1', 'b1'] },
    },
    {
      name: 'waits for the acknowledgement',
      plan: planOf('a1:5 a1:5!6', { members: ['b1'], ...unsettled }),
      members: [member('a1', { acked: 5 }), member('b1')],
      expected: { writes: undefined, acknowledgements: ['a1'] },
    },
    {
      name: 'does not take the acknowledgement of somebody else',
      plan: planOf('a1:5 a1:5!6', { members: ['b1'], ...unsettled }),
      members: [member('a1'), member('b1', { acked: 6, surrendered: 6 })],
      expected: { writes: undefined, acknowledgements: ['a1'] },
    },
    {
      name: 'grants with a new token once acknowledged',
      plan: planOf('a1:5 a1:5!6', { members: ['b1'], ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1')],
      expected: { writes: 'a1:5 b1:7', settled: true },
    },
    {
      name: 'takes a later acknowledgement for an earlier mark',
      plan: planOf('a1:5 a1:5!6', { members: ['b1'], epoch: 9, ...unsettled }),
      members: [member('a1', { acked: 8 }), member('b1')],
      expected: { writes: 'a1:5 b1:10', settled: true },
    },
    {
      name: 'takes no acknowledgement for what is not marked',
      plan: planOf('a1:5 a1:5'),
      members: [member('a1', { acked: 1_000 })],
      expected: { writes: undefined },
    },
    {
      name: 'copies a mark unchanged',
      plan: planOf('a1:5 a1:5!6 c1:5', { members: ['b1'], epoch: 20, ...unsettled }),
      members: [member('a1'), member('b1')],
      facts: { waitedOut: new Set(['c1']) },
      expected: { writes: 'a1:5 a1:5!6 b1:21', settled: false, acknowledgements: ['a1'] },
    },
    {
      name: 'never withdraws: what is not to move any more is given back with a new token',
      plan: planOf('a1:5 a1:5!6', unsettled),
      members: [member('a1')],
      expected: { writes: undefined, acknowledgements: ['a1'] },
    },
    {
      name: 'gives it back after the acknowledgement',
      plan: planOf('a1:5 a1:5!6', unsettled),
      members: [member('a1', { acked: 6 })],
      expected: { writes: 'a1:5 a1:7', settled: true },
    },
  ],
  surrender: [
    {
      name: 'frees what was granted up to it',
      plan: planOf('a1:5 a1:8 b1:8 b1:8'),
      members: [member('a1', { acked: 7, surrendered: 7 }), member('b1')],
      expected: { writes: 'a1:9 a1:8 b1:8 b1:8', settled: true },
    },
    {
      name: 'frees a marked item as well',
      plan: planOf('a1:5!6', { members: ['b1'], ...unsettled }),
      members: [member('a1', { surrendered: 5 }), member('b1', { weight: 0 })],
      expected: { writes: 'a1:7', settled: true },
    },
    {
      name: 'does not free what was granted after it',
      plan: planOf('a1:5'),
      members: [member('a1', { acked: 4, surrendered: 4 })],
      expected: { writes: undefined },
    },
  ],
  'the rest keeps running': [
    {
      name: 'free items are granted while others are being taken away',
      plan: planOf('a1:5!6 -', { members: ['b1'], ...unsettled }),
      members: [member('a1'), member('b1')],
      expected: { writes: 'a1:5!6 b1:7', settled: false, acknowledgements: ['a1'] },
    },
    {
      name: 'nothing new is taken away while a live member has not let go',
      plan: planOf('a1:5 a1:5!6 b1:5 b1:5 b1:5 b1:5', { members: ['c1'], ...unsettled }),
      members: [member('a1'), member('b1'), member('c1')],
      expected: { writes: undefined, acknowledgements: ['a1'] },
    },
    {
      name: 'what is owed by the dead does not stop a new revocation',
      plan: planOf('a1:5!6 b1:5 b1:5 b1:5 b1:5 b1:5', { members: ['c1'], ...unsettled }),
      members: [member('b1'), member('c1')],
      expected: {
        writes: 'a1:5!6 b1:5 b1:5 b1:5 b1:5!7 b1:5!7',
        settled: false,
        dead: ['a1'],
      },
    },
    {
      name: 'joins that came meanwhile are planned together',
      plan: planOf('a1:5 a1:5 a1:5!6 a1:5!6', { members: ['b1'], ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1'), member('c1'), member('d1')],
      expected: { writes: 'a1:5 a1:5!7 c1:7 d1:7', settled: false },
    },
  ],
  'the dead': [
    {
      name: 'stay holders until waited out',
      plan: planOf('a1:5 b1:5'),
      members: [member('b1')],
      expected: { writes: 'a1:5 b1:5', settled: false, dead: ['a1'], members: ['b1', 'a1'] },
    },
    {
      name: 'are waited for in silence afterwards',
      plan: {
        ...planOf('b1:5 a1:5', unsettled),
        members: planOf('a1:1 b1:1').members.toReversed(),
        owners: Int32Array.of(1, 0),
      },
      members: [member('b1')],
      expected: { writes: undefined, dead: ['a1'] },
    },
    {
      name: 'are replaced once waited out, and not named any more',
      plan: planOf('a1:5 b1:5', unsettled),
      members: [member('b1')],
      facts: { waitedOut: new Set(['a1']) },
      expected: { writes: 'b1:6 b1:5', settled: true, members: ['b1'], dead: [] },
    },
    {
      name: 'are not those that live, whatever was waited for',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      facts: { waitedOut: new Set(['a1']) },
      expected: { writes: undefined, dead: [] },
    },
    {
      name: 'need not be waited for what they acknowledged with their last words',
      plan: planOf('a1:5 a1:5!6 b1:5', unsettled),
      members: [member('b1')],
      facts: { lastWords: new Map([['a1', member('a1', { acked: 6 })]]) },
      expected: { writes: 'a1:5 b1:7 b1:5', settled: false, dead: ['a1'] },
    },
    {
      name: 'need not be waited for what they surrendered with their last words',
      plan: planOf('a1:5 a1:6 b1:5'),
      members: [member('b1')],
      facts: { lastWords: new Map([['a1', member('a1', { surrendered: 6 })]]) },
      expected: { writes: 'b1:7 b1:7 b1:5', settled: true, dead: [] },
    },
    {
      name: 'are waited for where their last words fall short',
      plan: planOf('a1:5 a1:7!8 b1:5', unsettled),
      members: [member('b1')],
      facts: { lastWords: new Map([['a1', member('a1', { acked: 7, surrendered: 4 })]]) },
      expected: { writes: 'a1:5 a1:7!8 b1:5', settled: false, dead: ['a1'] },
    },
    {
      name: 'are not named if they held nothing',
      plan: planOf('b1:5', { members: ['a1'] }),
      members: [member('b1')],
      expected: { writes: 'b1:5', settled: true, members: ['b1'], dead: [] },
    },
  ],
  'another life of the same id': [
    {
      name: 'stands beside the former one and gets nothing of it',
      plan: planOf('a1:5 b1:5'),
      members: [member('a2'), member('b1')],
      expected: {
        writes: 'a1:5 b1:5',
        settled: false,
        members: ['a2', 'b1', 'a1'],
        dead: ['a1'],
      },
    },
    {
      name: 'does not speak for the former one',
      plan: planOf('a1:5!6 b1:5', { members: ['a2'], ...unsettled }),
      members: [member('a2', { acked: 6, surrendered: 6 }), member('b1')],
      expected: { writes: 'a1:5!6 b1:5', settled: false, dead: ['a1'] },
    },
    {
      name: 'is granted what the former one had once that was waited out',
      plan: planOf('a1:5 b1:5', { members: ['a2'], ...unsettled }),
      members: [member('a2'), member('b1')],
      facts: { waitedOut: new Set(['a1']) },
      expected: { writes: 'a2:6 b1:5', settled: true, members: ['a2', 'b1'] },
    },
  ],
  'a changed total': [
    {
      name: 'takes everything from everybody first',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      total: 3,
      expected: { writes: 'a1:5!6 b1:5!6', settled: false, nextTotal: 3 },
    },
    {
      name: 'frees what was let go and grants nothing of it',
      plan: planOf('a1:5!6 b1:5!6', { nextTotal: 3, ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1')],
      total: 3,
      expected: { writes: '- b1:5!6', settled: false, nextTotal: 3, acknowledgements: ['b1'] },
    },
    {
      name: 'comes when nobody holds anything',
      plan: planOf('- b1:5!6', { members: ['a1'], nextTotal: 3, ...unsettled }),
      members: [member('a1'), member('b1', { acked: 6 })],
      total: 3,
      expected: { writes: 'a1:7 a1:7 b1:7', settled: true, nextTotal: 3 },
    },
    {
      name: 'comes in one step where all have let go together',
      plan: planOf('a1:5!6 b1:5!6', { nextTotal: 1, ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1', { surrendered: 6 })],
      total: 1,
      expected: { writes: 'a1:7', settled: true, nextTotal: 1 },
    },
    {
      name: 'is held up by a dead holder, and the living work on meanwhile',
      plan: planOf('a1:5 b1:5'),
      members: [member('b1')],
      total: 3,
      expected: { writes: 'a1:5 b1:5', settled: false, nextTotal: 3, dead: ['a1'] },
    },
    {
      name: 'goes on when the dead holder was waited out',
      plan: planOf('a1:5 b1:5', { nextTotal: 3, ...unsettled }),
      members: [member('b1')],
      total: 3,
      facts: { waitedOut: new Set(['a1']) },
      expected: { writes: '- b1:5!6', settled: false, nextTotal: 3 },
    },
    {
      name: 'waits for revocations that are under way',
      plan: planOf('a1:5!6 b1:5', unsettled),
      members: [member('a1'), member('b1')],
      total: 3,
      expected: { writes: 'a1:5!6 b1:5', nextTotal: 3, acknowledgements: ['a1'] },
    },
    {
      name: 'and back again withdraws nothing',
      plan: planOf('a1:5!6 b1:5!6', { nextTotal: 3, ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1')],
      total: 2,
      expected: { writes: 'a1:7 b1:5!6', settled: false, nextTotal: 2 },
    },
    {
      name: 'also from nothing',
      plan: planOf(''),
      members: [member('a1')],
      total: 2,
      expected: { writes: 'a1:2 a1:2', settled: true },
    },
  ],
  'a total that follows the instances': [
    {
      name: 'grows with a join, as a barrier',
      plan: planOf('a1:5'),
      members: [member('a1'), member('b1')],
      total: 'instances',
      expected: { writes: 'a1:5!6', settled: false, nextTotal: 2 },
    },
    {
      name: 'counts neither those that leave nor those without weight, but names the latter',
      plan: planOf('a1:5'),
      members: [member('a1'), member('b1', { leaving: true }), member('c1', { weight: 0 })],
      total: 'instances',
      expected: { writes: 'a1:5', settled: true, members: ['a1', 'c1'] },
    },
    {
      name: 'gives one item to each',
      plan: planOf('a1:5!6', { members: ['b1'], nextTotal: 2, ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1')],
      total: 'instances',
      expected: { writes: 'a1:7 b1:7', settled: true },
    },
    {
      name: 'is none when the last one has left',
      plan: planOf('a1:5'),
      members: [member('a1', { leaving: true, surrendered: 5 })],
      total: 'instances',
      expected: { writes: '', settled: true, members: [], nextTotal: 0 },
    },
    {
      name: 'is none without members, and that is settled',
      plan: planOf(''),
      members: [],
      total: 'instances',
      expected: { writes: undefined },
    },
  ],
  leaving: [
    {
      name: 'has its items taken away in order',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1', { leaving: true }), member('b1')],
      expected: { writes: 'a1:5!6 b1:5', settled: false, members: ['b1', 'a1'] },
    },
    {
      name: 'takes one write if it has surrendered, which does not name it any more',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1', { leaving: true, acked: 5, surrendered: 5 }), member('b1')],
      expected: { writes: 'b1:6 b1:5', settled: true, members: ['b1'] },
    },
    {
      name: 'takes one write if it held nothing',
      plan: planOf('b1:5', { members: ['a1'] }),
      members: [member('a1', { leaving: true }), member('b1')],
      expected: { writes: 'b1:5', settled: true, members: ['b1'] },
    },
    {
      name: 'and coming back is a join',
      plan: planOf('b1:5 b1:6', { members: [] }),
      members: [member('a1', { acked: 5, surrendered: 5 }), member('b1')],
      expected: { writes: 'b1:5 b1:6!7', settled: false, members: ['a1', 'b1'] },
    },
    {
      name: 'is the same for a member without weight',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1', { weight: 0 }), member('b1')],
      expected: { writes: 'a1:5!6 b1:5', settled: false },
    },
  ],
  'nobody who could hold anything': [
    {
      name: 'leaves free items free, and that is settled',
      plan: planOf('a1:5'),
      members: [member('a1', { leaving: true, surrendered: 5 })],
      expected: { writes: '-', settled: true, members: [] },
    },
    {
      name: 'still waits for the dead',
      plan: planOf('a1:5', unsettled),
      members: [],
      expected: { writes: undefined, dead: ['a1'] },
    },
    {
      name: 'then frees what they had',
      plan: planOf('a1:5', unsettled),
      members: [],
      facts: { waitedOut: new Set(['a1']) },
      expected: { writes: '-', settled: true },
    },
    {
      name: 'says nothing twice',
      plan: planOf('-'),
      members: [],
      expected: { writes: undefined },
    },
  ],
  permission: [
    {
      name: 'is asked for before anything is taken away',
      plan: planOf('a1:5 a1:5'),
      members: [member('a1'), member('b1')],
      facts: { mayRevoke: false },
      expected: { writes: undefined, permission: true },
    },
    {
      name: 'is asked for before a barrier as well',
      plan: planOf('a1:5 a1:5'),
      members: [member('a1')],
      total: 3,
      facts: { mayRevoke: false },
      expected: { writes: undefined, permission: true },
    },
    {
      name: 'is not needed for what is free',
      plan: planOf('a1:5 a1:5 a1:5 -'),
      members: [member('a1'), member('b1')],
      facts: { mayRevoke: false },
      expected: { writes: 'a1:5 a1:5 a1:5 b1:6', settled: false, permission: true },
    },
    {
      name: 'is not asked for where nothing has to be taken away',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      facts: { mayRevoke: false },
      expected: { writes: undefined, permission: false },
    },
  ],

  'what is said of items': [
    {
      name: 'a disabled item is taken away and given to nobody',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      config: { items: { 1: { disabled: true } } },
      expected: { writes: 'a1:5 b1:5!6', settled: false },
    },
    {
      name: 'and then stays free, which is settled',
      plan: planOf('a1:5 b1:5!6', unsettled),
      members: [member('a1'), member('b1', { acked: 6 })],
      config: { items: { 1: { disabled: true } } },
      expected: { writes: 'a1:5 -', settled: true },
    },
    {
      name: 'an item moves to where it is pinned',
      plan: planOf('a1:5 a1:5 b1:5 b1:5'),
      members: [member('a1'), member('b1')],
      config: { items: { 0: { pin: 'b' } } },
      expected: { writes: 'a1:5!6 a1:5 b1:5 b1:5!6' },
    },
    {
      name: 'a pin to somebody who is not there is ignored',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      config: { items: { 0: { pin: 'c' } } },
      expected: { writes: undefined },
    },
    {
      name: 'an item moves to who has the label that it needs',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1', { labels: { zone: 'x' } }), member('b1', { labels: { zone: 'y' } })],
      config: { items: { 0: { needs: { zone: 'y' } }, 1: { needs: { zone: 'x' } } } },
      expected: { writes: 'a1:5!6 b1:5!6' },
    },
    {
      name: 'an item that needs what nobody has is unplaced, and the rest runs',
      plan: planOf('- -'),
      members: [member('a1')],
      config: { items: { 0: { needs: { zone: 'x' } } } },
      expected: { writes: '- a1:2', settled: true },
    },
    {
      name: 'a heavy item counts more',
      plan: planOf('- - - -'),
      members: [member('a1'), member('b1')],
      config: { items: { 3: { weight: 3 } } },
      expected: { writes: 'b1:2 b1:2 b1:2 a1:2', settled: true },
    },
    {
      name: 'items beyond the total do not matter',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      config: { items: { 7: { disabled: true, weight: 9 } } },
      expected: { writes: undefined },
    },
  ],

  'what is said of instances': [
    {
      name: 'who is drained gives everything up, and stays named',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      config: { instances: { b: { drained: true } } },
      expected: { writes: 'a1:5 b1:5!6', members: ['a1', 'b1'] },
    },
    {
      name: 'so does who is disabled',
      plan: planOf('a1:5 b1:5!6', unsettled),
      members: [member('a1'), member('b1', { acked: 6 })],
      config: { instances: { b: { disabled: true } } },
      expected: { writes: 'a1:5 a1:7', settled: true, members: ['a1', 'b1'] },
    },
    {
      name: 'who is cordoned keeps what it has and gets nothing new',
      plan: planOf('a1:5 a1:5 a1:5 - - -', { members: ['b1', 'c1'] }),
      members: [member('a1'), member('b1'), member('c1')],
      config: { instances: { b: { cordoned: true } } },
      expected: { writes: 'a1:5 a1:5 a1:5 c1:6 c1:6 c1:6', settled: true },
    },
    {
      name: 'who is cordoned keeps more than its share, too',
      plan: planOf('a1:5 a1:5 a1:5', { members: ['b1'] }),
      members: [member('a1'), member('b1')],
      config: { instances: { a: { cordoned: true } } },
      expected: { writes: undefined },
    },
    {
      name: 'but not what is pinned to another, or disabled',
      plan: planOf('a1:5 a1:5 a1:5', { members: ['b1'] }),
      members: [member('a1'), member('b1')],
      config: {
        instances: { a: { cordoned: true } },
        items: { 0: { pin: 'b' }, 1: { disabled: true } },
      },
      expected: { writes: 'a1:5!6 a1:5!6 a1:5' },
    },
    {
      name: 'where everybody is cordoned, what is free stays so',
      plan: planOf('a1:5 -'),
      members: [member('a1')],
      config: { instances: { a: { cordoned: true } } },
      expected: { writes: undefined },
    },
    {
      name: 'a weight in the configuration counts instead of its own',
      plan: planOf('- - - -'),
      members: [member('a1'), member('b1', { weight: 0 })],
      config: { instances: { b: { weight: 3 } } },
      expected: { writes: 'a1:2 b1:2 b1:2 b1:2' },
    },
    {
      name: 'drained instances do not count for a total that follows the instances',
      plan: planOf('a1:5'),
      members: [member('a1'), member('b1')],
      total: 'instances',
      config: { instances: { b: { drained: true } } },
      expected: { writes: 'a1:5', settled: true, nextTotal: 1, members: ['a1', 'b1'] },
    },
  ],

  'a pause': [
    {
      name: 'lets nothing move, and that is settled',
      plan: planOf('a1:5 a1:5', { members: ['b1'] }),
      members: [member('a1'), member('b1')],
      config: { paused: true },
      expected: { writes: undefined },
    },
    {
      name: 'names a newcomer, which gets nothing',
      plan: planOf('a1:5 a1:5'),
      members: [member('a1'), member('b1')],
      config: { paused: true },
      expected: { writes: 'a1:5 a1:5', settled: true, members: ['a1', 'b1'] },
    },
    {
      name: 'keeps what a drained instance holds where it is',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1'), member('b1')],
      config: { paused: true, instances: { b: { drained: true } } },
      expected: { writes: undefined },
    },
    {
      name: 'grants what the dead had',
      plan: planOf('a1:5 b1:5'),
      members: [member('a1')],
      facts: { waitedOut: new Set(['b1']) },
      config: { paused: true },
      expected: { writes: 'a1:5 a1:6', settled: true },
    },
    {
      name: 'finishes what was begun',
      plan: planOf('a1:5 a1:5!6', { members: ['b1'], ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1')],
      config: { paused: true },
      expected: { writes: 'a1:5 b1:7', settled: true },
    },
    {
      name: 'gives out what is free, which stops nobody',
      plan: planOf('a1:5 -'),
      members: [member('a1')],
      config: { paused: true },
      expected: { writes: 'a1:5 a1:6', settled: true },
    },
    {
      name: 'gives out nothing that is disabled',
      plan: planOf('a1:5 -'),
      members: [member('a1')],
      config: { paused: true, items: { 1: { disabled: true } } },
      expected: { writes: undefined },
    },
    {
      name: 'calls a change of the total off, and gives back what was let go for it',
      plan: planOf('- a1:5 b1:5!6 b1:5!6', { nextTotal: 5, ...unsettled }),
      members: [member('a1'), member('b1', { acked: 6 })],
      total: 5,
      config: { paused: true },
      expected: { writes: 'a1:7 a1:5 b1:7 b1:7', settled: true, nextTotal: 4 },
    },
    {
      name: 'gives out what was kept for somebody who does not come back in time',
      plan: keptForB('a1:5 -', [-1, 0]),
      members: [member('a1')],
      facts: { overstayed: new Set(['b']) },
      config: { paused: true },
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'gives everything out again when all have left and come back',
      plan: planOf('- -'),
      members: [member('a2'), member('b2')],
      config: { paused: true },
      expected: { writes: 'a2:2 b2:2', settled: true },
    },
    {
      name: 'leaves what was lent with whoever has it, and does not forget whose it is',
      plan: keptForB('a1:5 a1:6', [-1, 0], true),
      members: [member('a1'), member('b2')],
      config: { paused: true },
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- b' },
    },
    {
      name: 'keeps the total',
      plan: planOf('a1:5 a1:5'),
      members: [member('a1')],
      total: 7,
      config: { paused: true },
      expected: { writes: undefined },
    },
  ],

  'a limit on moves': [
    {
      name: 'takes no more than so many at once',
      plan: planOf('a1:5 a1:5 a1:5 a1:5 a1:5 a1:5', { members: ['b1'] }),
      members: [member('a1'), member('b1')],
      config: { maxMoves: 2 },
      expected: { writes: 'a1:5 a1:5 a1:5 a1:5!6 a1:5!6 a1:5', settled: false },
    },
    {
      name: 'is at least one where it is a share',
      plan: planOf('a1:5 a1:5 a1:5 a1:5', { members: ['b1'] }),
      members: [member('a1'), member('b1')],
      config: { maxMoves: '1%' },
      expected: { writes: 'a1:5 a1:5 a1:5!6 a1:5', settled: false },
    },
    {
      name: 'grants a wave before the next one begins',
      plan: planOf('a1:5 a1:5 a1:5 a1:5!6 a1:5!6 a1:5', { members: ['b1'], ...unsettled }),
      members: [member('a1', { acked: 6 }), member('b1')],
      config: { maxMoves: 2 },
      expected: { writes: 'a1:5 a1:5 a1:5 b1:7 b1:7 a1:5', settled: false },
    },
    {
      name: 'then begins it',
      plan: planOf('a1:5 a1:5 a1:5 b1:7 b1:7 a1:5', unsettled),
      members: [member('a1', { acked: 6 }), member('b1')],
      config: { maxMoves: 2 },
      expected: { writes: 'a1:5 a1:5 a1:5 b1:7 b1:7 a1:5!8', settled: false },
    },
    {
      name: 'is no permission, though a plan has not settled for another reason',
      plan: planOf('a1:5 a1:5 a1:5 c1:5', unsettled),
      members: [member('a1'), member('b1')],
      config: { maxMoves: 2 },
      facts: { mayRevoke: false },
      expected: { writes: undefined, permission: true, dead: ['c1'] },
    },
    {
      name: 'does not hold up a change of the total, which stops everything anyway',
      plan: planOf('a1:5 a1:5 a1:5'),
      members: [member('a1')],
      total: 4,
      config: { maxMoves: 1 },
      expected: { writes: 'a1:5!6 a1:5!6 a1:5!6', nextTotal: 4 },
    },
  ],

  'who may come back': [
    {
      name: 'is waited out like anybody who is gone',
      plan: withRejoin(planOf('a1:5 b1:5')),
      members: [member('a1', rejoins)],
      expected: { writes: 'a1:5 b1:5', settled: false, dead: ['b1'], homes: '- b' },
    },
    {
      name: 'then has its items kept, and that is settled',
      plan: withRejoin(planOf('a1:5 b1:5', unsettled)),
      members: [member('a1', rejoins)],
      facts: { waitedOut: new Set(['b1']) },
      expected: { writes: 'a1:5 -', settled: true, members: ['a1'], homes: '- b' },
    },
    {
      name: 'has them kept when it leaves in good order',
      plan: withRejoin(planOf('a1:5 b1:5')),
      members: [member('a1', rejoins), member('b1', { ...rejoins, leaving: true, surrendered: 5 })],
      expected: { writes: 'a1:5 -', settled: true, members: ['a1'], homes: '- b' },
    },
    {
      name: 'but not after it was drained on purpose',
      plan: withRejoin(planOf('a1:5 b1:5')),
      members: [member('a1', rejoins), member('b1', { leaving: true, surrendered: 5 })],
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'nor if the configuration lets it hold nothing',
      plan: withRejoin(planOf('a1:5 b1:5')),
      members: [member('a1', rejoins)],
      facts: { waitedOut: new Set(['b1']) },
      config: { instances: { b: { drained: true } } },
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'nor if it stays away for too long',
      plan: keptForB('a1:5 -', [-1, 0]),
      members: [member('a1', rejoins)],
      facts: { overstayed: new Set(['b']) },
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'gets just its items back',
      plan: keptForB('a1:5 - a1:5 -', [-1, 0, -1, 0]),
      members: [member('a1', rejoins), member('b2', rejoins)],
      expected: { writes: 'a1:5 b2:6 a1:5 b2:6', settled: true, homes: '- - - -' },
    },
    {
      name: 'gets them back once its former life has been waited out',
      plan: withRejoin(planOf('a1:5 b1:5')),
      members: [member('a1', rejoins), member('b2', rejoins)],
      expected: { writes: 'a1:5 b1:5', settled: false, dead: ['b1'], homes: '- b' },
    },
    {
      name: 'keeps its place in a total that follows the instances',
      plan: withRejoin(planOf('a1:5 b1:5')),
      members: [member('a1', rejoins)],
      total: 'instances',
      facts: { waitedOut: new Set(['b1']) },
      expected: { writes: 'a1:5 -', settled: true, nextTotal: 2, homes: '- b' },
    },
    {
      name: 'has its items lent out if it wants that',
      plan: withRejoin(planOf('a1:5 b1:5'), true),
      members: [member('a1')],
      facts: { waitedOut: new Set(['b1']) },
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- b' },
    },
    {
      name: 'gets what was lent back from whoever has it',
      plan: keptForB('a1:5 a1:6', [-1, 0], true),
      members: [member('a1'), member('b2')],
      expected: { writes: 'a1:5 a1:6!7', settled: false, homes: '- b' },
    },
    {
      name: 'and then they are its own again',
      plan: { ...keptForB('a1:5 a1:6!7', [-1, 0], true), ...unsettled },
      members: [member('a1', { acked: 7 }), member('b2')],
      expected: { writes: 'a1:5 b2:8', settled: true, homes: '- -' },
    },
    {
      name: 'lent items that are lent on still belong to the first',
      plan: withRejoin(keptForB('a1:5 c1:6 c1:6', [-1, 0, -1], true), true),
      members: [member('a1')],
      facts: { waitedOut: new Set(['c1']) },
      expected: { writes: 'a1:5 a1:7 a1:7', settled: true, homes: '- b c' },
    },
    {
      name: 'gets no lent item back while it is cordoned, and nobody is stopped for it',
      plan: keptForB('a1:5 a1:6', [-1, 0], true),
      members: [member('a1'), member('b2')],
      config: { instances: { b: { cordoned: true } } },
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'is not awaited once it is back and can hold nothing',
      plan: keptForB('a1:5 -', [-1, 0]),
      members: [member('a1', rejoins), member('b2', { ...rejoins, weight: 0 })],
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'nor while the configuration gives it no weight',
      plan: keptForB('a1:5 -', [-1, 0]),
      members: [member('a1', rejoins)],
      config: { instances: { b: { weight: 0 } } },
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'nor if it goes while it gives up everything for want of weight',
      plan: withRejoin(planOf('a1:5 b1:5!6', unsettled)),
      members: [member('a1', rejoins)],
      facts: { waitedOut: new Set(['b1']) },
      config: { instances: { b: { weight: 0 } } },
      expected: { writes: 'a1:5 a1:7', settled: true, homes: '- -' },
    },
    {
      name: 'nor if its own weight is none',
      plan: {
        ...keptForB('a1:5 -', [-1, 0]),
        away: [{ ...awaits('b'), weight: 0 }],
      },
      members: [member('a1', rejoins)],
      expected: { writes: 'a1:5 a1:6', settled: true, homes: '- -' },
    },
    {
      name: 'does not have kept what is pinned to somebody who is there',
      plan: keptForB('a1:5 - -', [-1, 0, 0]),
      members: [member('a1'), member('c1')],
      config: { items: { 1: { pin: 'c' } } },
      expected: { writes: 'a1:5 c1:6 -', settled: true },
    },
    {
      name: 'nor what needs a label that it has not',
      plan: keptForB('a1:5 - -', [-1, 0, 0]),
      members: [member('a1', { labels: { zone: 'x' } })],
      config: { items: { 1: { needs: { zone: 'x' } } } },
      expected: { writes: 'a1:5 a1:6 -', settled: true },
    },
    {
      name: 'keeps what is pinned to it, whatever that needs',
      plan: keptForB('a1:5 -', [-1, 0]),
      members: [member('a1')],
      config: { items: { 1: { pin: 'b', needs: { zone: 'x' } } } },
      expected: { writes: undefined },
    },
    {
      name: 'does not make the total grow while it is not there',
      plan: keptForB('- a1:5 c1:5', [0, -1, -1]),
      members: [member('a1'), member('c1'), member('d1')],
      total: 'instances',
      expected: { writes: '- a1:5 c1:5', settled: true, nextTotal: 3, homes: 'b - -' },
    },
    {
      name: 'is a join of its own where another has come meanwhile',
      plan: keptForB('- a1:5 c1:5', [0, -1, -1]),
      members: [member('a1'), member('b2'), member('c1'), member('d1')],
      total: 'instances',
      expected: { writes: '- a1:5!6 c1:5!6', settled: false, nextTotal: 4 },
    },
    {
      name: 'is forgotten when the total changes',
      plan: keptForB('a1:5 -', [-1, 0]),
      members: [member('a1')],
      total: 3,
      expected: { writes: 'a1:5!6 -', nextTotal: 3, homes: '- -' },
    },
  ],
};

function run(input: Omit<Case, 'expected'>): Step {
  const { plan, members, total = plan?.total ?? 0, facts } = input;
  return next(plan, members, config(total, input.config), factsOf(facts));
}

function homesOf(plan: Plan | undefined): string | undefined {
  return plan && Array.from(plan.homes, (home) => plan.away[home]?.id ?? '-').join(' ');
}

describe.each(Object.entries(cases))('next: %s', (_, rows) => {
  it.each(rows)('$name', ({ expected, ...input }) => {
    const copy = structuredClone(input.plan);
    const { plan, waiting } = run(input);
    const { writes, acknowledgements, dead, permission } = expected;
    expect(wordsOf(plan)).toBe(writes);
    if (expected.settled !== undefined) expect(plan?.settled).toBe(expected.settled);
    if (expected.nextTotal !== undefined) expect(plan?.nextTotal).toBe(expected.nextTotal);
    if (expected.members) expect(namesOf(plan)).toEqual(expected.members);
    if (expected.homes !== undefined) expect(homesOf(plan)).toBe(expected.homes);
    if (acknowledgements) expect(waiting.acknowledgements).toEqual(acknowledgements);
    if (dead) expect(waiting.dead).toEqual(dead);
    if (permission !== undefined) expect(waiting.permission).toBe(permission);
    // What was read is shared with the follower.
    expect(input.plan).toEqual(copy);
  });
});

describe('next: the epoch', () => {
  const epochOf = (
    members: readonly MemberRecord[],
    facts: Partial<LeaderFacts>,
  ): number | undefined =>
    run({ name: '', plan: planOf('- -', { epoch: 50 }), members, facts }).plan?.epoch;

  it('is the clock’s, in whole milliseconds', () => {
    expect(epochOf([member('a1')], { wall: 1_000.9 })).toBe(1_000);
  });

  it('is larger than the last one, whatever the clock says', () => {
    expect(epochOf([member('a1')], { wall: 50 })).toBe(51);
    expect(epochOf([member('a1')], { wall: 7 })).toBe(51);
  });

  it('is larger than what anybody has surrendered or acknowledged, or the grant would be ignored', () => {
    expect(epochOf([member('a1', { surrendered: 70 }), member('b1')], {})).toBe(71);
    expect(epochOf([member('a1'), member('b1', { acked: 80 })], {})).toBe(81);
    const { plan } = run({
      name: '',
      plan: undefined,
      members: [member('a1', { acked: 90, surrendered: 90 })],
      total: 1,
      facts: { mayCreate: true, wall: 3 },
    });
    expect(wordsOf(plan)).toBe('a1:91');
  });

  it('is the token of what the write grants, and the mark of what it takes away', () => {
    const plan = planOf('a1:5 a1:5 a1:5 -');
    const members = [member('a1'), member('b1')];
    const step = run({ name: '', plan, members, facts: { wall: 1_000 } });
    expect(wordsOf(step.plan)).toBe('a1:5 a1:5 a1:5!1000 b1:1000');
  });
});

describe('next: the office', () => {
  const plan = planOf('a1:5');
  const members = [member('a1')];
  const office = { id: 'y', incarnation: 'y1', lease: 4_000, owed: 700, term: undefined };

  it('is taken with a write, whose epoch is the term', () => {
    const step = run({ name: '', plan, members, facts: { office } });
    expect(wordsOf(step.plan)).toBe('a1:5');
    expect(step.plan?.office).toEqual({ ...office, term: 6 });
    expect(step.plan?.settled).toBe(true);
  });

  it('is taken even while a rebalance may not begin', () => {
    const facts = { office, mayRevoke: false };
    const joined = [...members, member('b1')];
    const step = run({ name: '', plan: planOf('a1:5 a1:5'), members: joined, facts });
    expect(wordsOf(step.plan)).toBe('a1:5 a1:5');
    expect(step.plan?.settled).toBe(false);
    expect(step.waiting.permission).toBe(true);
  });

  it('takes over what was under way', () => {
    const owed = planOf('a1:5 a1:5!6', { members: ['b1'], settled: false });
    const joined = [...members, member('b1')];
    const step = run({ name: '', plan: owed, members: joined, facts: { office } });
    expect(wordsOf(step.plan)).toBe('a1:5 a1:5!6');
    expect(step.waiting.acknowledgements).toEqual(['a1']);
  });

  it('keeps its term afterwards', () => {
    const held = { ...office, term: 6 };
    const step = run({
      name: '',
      plan: planOf('-', { epoch: 9, office: { ...held, term: 6 } }),
      members,
      facts: { office: held },
    });
    expect(step.plan?.office.term).toBe(6);
  });
});

describe('next: asked for a reshard', () => {
  it('writes the same plan with another epoch and nonce', () => {
    const plan = planOf('a1:5');
    const facts = { isForced: true, nonce: 'asked' };
    const step = run({ name: '', plan, members: [member('a1')], facts });
    expect(wordsOf(step.plan)).toBe('a1:5');
    expect(step.plan).toMatchObject({ epoch: 6, nonce: 'asked', settled: true });
  });
});

describe('next: what else a step says', () => {
  it('how many items it moves, and how the finished plan will look', () => {
    const plan = planOf('a1:5 a1:5 a1:5 a1:5');
    const step = run({ name: '', plan, members: [member('a1'), member('b1')] });
    expect(step).toMatchObject({ revoked: 2, granted: 0 });
    expect(wordsOf(step.goal?.())).toBe('a1:5 a1:5 b1:6 b1:6');
    expect(wordsOf(step.plan)).toBe('a1:5 a1:5 a1:5!6 a1:5!6');
    const done = run({
      name: '',
      plan: step.plan,
      members: [member('a1', { acked: 6 }), member('b1')],
    });
    expect(done).toMatchObject({ revoked: 0, granted: 2, goal: undefined });
  });

  it('how the finished plan will look after a barrier', () => {
    const plan = planOf('a1:5');
    const step = run({ name: '', plan, members: [member('a1'), member('b1')], total: 4 });
    expect(wordsOf(step.goal?.())).toBe('a1:6 a1:6 b1:6 b1:6');
  });

  it('names members with what others need to know of them', () => {
    const a1 = member('a1', { lease: 1_234, address: 'http://a' });
    const step = run({ name: '', plan: planOf('-'), members: [a1] });
    expect(step.plan?.members).toEqual([
      { id: 'a', incarnation: 'a1', lease: 1_234, address: 'http://a' },
    ]);
  });

  it('keeps of a dead member what it said of itself while it lived', () => {
    const plan = planOf('a1:5 b1:5');
    const { members } = plan;
    const step = run({ name: '', plan, members: [member('b1', { lease: 77 })] });
    expect(step.plan?.members[1]).toEqual(members[0]);
  });
});

/** A member's process: what it has seen of the plan, and what it has written of itself. */
interface Process {
  record: MemberRecord;
  seen: Plan | undefined;
  isRegistered: boolean;
  /** Some leader has waited until it cannot hold anything any more. */
  isWaitedOut: boolean;
}

type Event = readonly [kind: (typeof OPERATED)[number], choice: number];

const KINDS = [
  'join',
  'rejoin',
  'leave',
  'resume',
  'die',
  'look',
  'look',
  'acknowledge',
  'lapse',
  'wait',
  'wait',
  'lead',
  'step',
  'step',
  'step',
  'total',
  'permit',
] as const;

/** With an operator, and members that want to be waited for. */
const OPERATED = [...KINDS, 'configure', 'configure', 'be-awaited', 'give-up', 'stand-by'] as const;

/** What operators do, by a number. */
function settingsFor(choice: number): Partial<GroupConfig> {
  const id = 'abcdef'[choice % 6]!;
  const item = choice % 5;
  const settings: Partial<GroupConfig>[] = [
    {},
    { items: { [item]: { disabled: true } } },
    { items: { [item]: { pin: id }, [item + 1]: { pin: 'a' } } },
    { items: { [item]: { needs: { zone: 'x' } }, 1: { needs: { zone: 'nowhere' } } } },
    { items: { [item]: { weight: 3 } } },
    { instances: { [id]: { drained: true } } },
    { instances: { [id]: { disabled: true }, a: { cordoned: true } } },
    { instances: { [id]: { cordoned: true } } },
    { instances: { [id]: { weight: choice % 3 } } },
    { paused: true },
    { paused: true, instances: { [id]: { drained: true } } },
    { maxMoves: 1 },
    { maxMoves: '40%', instances: { [id]: { cordoned: true } } },
    { spreadOver: 'zone' },
  ];
  return settings[choice % settings.length]!;
}

/**
 * A small group under everything that can happen to it, driven by `next` alone. Members see plans late,
 * leaders see members late, a new leader knows nothing of what the former one has waited for.
 */
class World {
  readonly processes: Process[] = [];
  plan: Plan | undefined;
  moves = 0;
  #born = 0;
  #total: GroupConfig['total'];
  #leader = { number: 0, term: undefined as number | undefined };
  #waitedOut = new Set<string>();
  #lastWords = new Map<string, MemberRecord>();
  #view = new Map<string, MemberRecord>();
  #mayRevoke = true;
  #settings: Partial<GroupConfig> = {};
  #overstayed = new Set<string>();
  #clock = 100;
  readonly #newestToken = new Map<number, number>();

  constructor(total: GroupConfig['total'], settings: Partial<GroupConfig> = {}) {
    this.#total = total;
    this.#settings = settings;
  }

  happen([kind, choice]: Event): void {
    const pick = <T>(from: readonly T[]): T | undefined => from[choice % from.length];
    const live = this.processes.filter(({ isRegistered }) => isRegistered);
    switch (kind) {
      case 'join':
        if (live.length < 6) this.#register(`${'abcdef'[choice % 6]}`);
        return;
      case 'rejoin': {
        const gone = pick(this.processes.filter(({ isRegistered }) => !isRegistered));
        if (gone) this.#register(gone.record.id);
        return;
      }
      case 'leave':
        return this.#write(pick(live), { leaving: true });
      case 'resume':
        return this.#write(pick(live), { leaving: false });
      case 'die': {
        const dying = pick(live);
        if (dying) dying.isRegistered = false;
        return;
      }
      case 'look': {
        const looking = pick(live);
        if (looking) this.#look(looking);
        return;
      }
      case 'acknowledge':
        return this.#acknowledge(pick(live));
      case 'lapse':
        return this.#surrender(pick(live));
      case 'wait':
        return this.#waitOut(pick(this.#absent()));
      case 'lead':
        this.#leader = { number: this.#leader.number + 1, term: undefined };
        this.#waitedOut = new Set();
        this.#lastWords = new Map();
        this.#overstayed = new Set();
        this.#view = new Map();
        this.#refresh();
        return;
      case 'total':
        this.#total = this.#total === 'instances' ? 'instances' : 1 + (choice % 8);
        return;
      case 'configure':
        this.#settings = settingsFor(choice);
        return;
      case 'be-awaited':
        return this.#write(pick(live), { rejoinWindow: 9, lends: choice % 2 === 0 });
      case 'stand-by':
        return this.#register('abcdef'[choice % 6]!, 0);
      case 'give-up': {
        const gone = pick(this.plan?.away ?? []);
        if (gone) this.#overstayed.add(gone.id);
        return;
      }
      case 'permit':
        this.#mayRevoke = choice % 2 === 0;
        return;
      case 'step':
        // The leader's picture of the members is as old as it happens to be.
        if (choice % 3 > 0) this.#refresh();
        if (choice % 7 === 0) this.#clock += choice % 100;
        this.step();
    }
  }

  step(isForced = false): Step {
    const before = this.plan;
    const members = [...this.#view.values()];
    const live = new Set(
      members.filter(({ leaving }) => !leaving).map(({ incarnation }) => incarnation),
    );
    const gone = before?.members.filter(({ incarnation }) => !live.has(incarnation)) ?? [];
    const missed = new Set([...(before?.away ?? []), ...gone].map(({ id }) => id));
    for (const id of this.#overstayed) if (!missed.has(id)) this.#overstayed.delete(id);
    const step = next(before, members, config(this.#total, this.#settings), {
      ...factsOf({ wall: this.#clock, isForced, mayRevoke: this.#mayRevoke }),
      office: {
        id: 'z',
        incarnation: `z${this.#leader.number}`,
        lease: 1,
        owed: 0,
        term: this.#leader.term,
      },
      waitedOut: this.#waitedOut,
      lastWords: this.#lastWords,
      overstayed: this.#overstayed,
      mayCreate: true,
    });
    if (step.plan) {
      this.#check(before, step.plan, new Set(this.#view.keys()));
      this.#leader.term ??= step.plan.office.term;
      this.plan = step.plan;
      this.checkHolders();
    }
    return step;
  }

  /** Everybody looks, acknowledges and is waited for until nothing happens any more. */
  settle(): void {
    this.#mayRevoke = true;
    for (let round = 0; round < 100; round++) {
      for (const process of this.processes) {
        if (!process.isRegistered) continue;
        this.#look(process);
        this.#acknowledge(process);
        if (process.record.leaving) this.#surrender(process);
      }
      for (const process of this.#absent()) this.#waitOut(process);
      this.#refresh();
      if (!this.step().plan) return;
    }
    assert.fail('it never comes to rest');
  }

  /** At rest: settled, balanced, nobody named that is not there. */
  checkRest(): void {
    const plan = this.plan!;
    const eligible = this.processes.filter(
      ({ isRegistered, record }) => isRegistered && !record.leaving,
    );
    const total = this.#total === 'instances' ? eligible.length : this.#total;
    assert(plan.settled, `not settled: ${wordsOf(plan)}`);
    assert.equal(plan.total, total);
    assert.equal(plan.nextTotal, total);
    assert.deepEqual(
      namesOf(plan)?.toSorted(),
      eligible.map(({ record }) => record.incarnation).toSorted(),
    );
    assert(plan.marks.every((mark) => mark === 0));
    const held = plan.members.map((_, index) => plan.owners.filter((o) => o === index).length);
    if (eligible.length === 0) assert(plan.owners.every((owner) => owner === -1));
    else {
      assert(plan.owners.every((owner) => owner >= 0));
      assert(Math.max(...held) - Math.min(...held) <= 1, `unbalanced: ${wordsOf(plan)}`);
    }
  }

  /** At rest with whatever an operator said: settled, and where an item is free, there is a reason. */
  checkOperatedRest(): void {
    const plan = this.plan!;
    const { items = {}, instances = {}, paused } = this.#settings;
    assert(plan.settled, `not settled: ${wordsOf(plan)}`);
    assert(plan.marks.every((mark) => mark === 0));
    const isShutOut = (id: string): boolean =>
      !!instances[id]?.drained || !!instances[id]?.disabled;
    const isOpen = ({ record: { id, weight, leaving }, isRegistered }: Process): boolean =>
      isRegistered &&
      !leaving &&
      (instances[id]?.weight ?? weight) > 0 &&
      !isShutOut(id) &&
      !instances[id]?.cordoned;
    const open = this.processes.filter(isOpen);
    const isBack = (id: string): boolean =>
      this.processes.some(
        ({ record, isRegistered }) => isRegistered && !record.leaving && record.id === id,
      );
    for (let item = 0; item < plan.total; item++) {
      const { disabled, pin, needs } = items[item] ?? {};
      const holder = plan.members[plan.owners[item]!]?.id;
      const home = plan.away[plan.homes[item]!];
      const canBePinned = open.some(({ record }) => record.id === pin);
      const suitsHome =
        home?.id === pin || (!canBePinned && (!needs || home?.labels['zone'] === needs['zone']));
      const isReserved = home !== undefined && !home.lends && !isBack(home.id) && suitsHome;
      const isMet = ({ record: { labels } }: Process): boolean =>
        labels['zone'] === needs?.['zone'];
      const candidates = needs ? open.filter(isMet) : open;
      if (holder === undefined) {
        const isExcused = disabled || isReserved || candidates.length === 0;
        assert(isExcused, `item ${item} is free for no reason: ${wordsOf(plan)}`);
      } else if (!paused) {
        assert(!disabled && !isShutOut(holder), `item ${item} should be free: ${wordsOf(plan)}`);
        assert(!canBePinned || holder === pin, `item ${item} is not with ${pin}: ${wordsOf(plan)}`);
      }
    }
    for (const { id } of plan.away) {
      assert(!isShutOut(id), `${id} is awaited and may hold nothing`);
      assert(instances[id]?.weight !== 0, `${id} is awaited without weight`);
      assert(!isBack(id) || paused, `${id} is back and still awaited: ${wordsOf(plan)}`);
    }
  }

  /** No item is held by two, by what each of them has seen. */
  checkHolders(): void {
    const holders = new Map<number, string>();
    for (const { seen, record, isWaitedOut } of this.processes) {
      const share = !isWaitedOut && seen ? shareOf(seen, record.incarnation) : undefined;
      for (const item of share?.granted ?? []) {
        if (share!.tokenOf(item) <= record.surrendered) continue;
        const other = holders.get(item);
        assert(!other, `item ${item} is held by ${other} and ${record.incarnation}`);
        holders.set(item, record.incarnation);
      }
    }
    const totals = new Set(
      this.processes.flatMap(({ seen, record, isWaitedOut }) => {
        const share = !isWaitedOut && seen ? shareOf(seen, record.incarnation) : undefined;
        const isHolding = share?.granted.some((item) => share.tokenOf(item) > record.surrendered);
        return isHolding ? [seen!.total] : [];
      }),
    );
    assert(totals.size <= 1, `there is work under the totals ${[...totals].join()}`);
  }

  get heldBy(): readonly (string | undefined)[] {
    const { owners, members } = this.plan!;
    return Array.from(owners, (owner) => members[owner]?.incarnation);
  }

  #register(id: string, weight = 1): void {
    if (this.processes.some(({ record, isRegistered }) => isRegistered && record.id === id)) return;
    const labels = { zone: 'xy'[this.#born % 2]! };
    const record = member(`${id}${++this.#born}`, { labels, weight });
    this.processes.push({ record, seen: undefined, isRegistered: true, isWaitedOut: false });
  }

  #write(process: Process | undefined, change: Partial<MemberRecord>): void {
    if (process) process.record = { ...process.record, ...change };
  }

  #look(process: Process): void {
    process.seen = this.plan;
    this.checkHolders();
  }

  #acknowledge(process: Process | undefined): void {
    if (!process?.seen) return;
    const share = shareOf(process.seen, process.record.incarnation);
    const marks = Array.from(share?.revoked ?? [], (item) => share!.markOf(item));
    const acked = Math.max(process.record.acked, ...marks);
    this.#write(process, { acked });
  }

  #surrender(process: Process | undefined): void {
    if (!process?.seen) return;
    const { epoch } = process.seen;
    const { acked, surrendered } = process.record;
    this.#write(process, {
      acked: Math.max(acked, epoch),
      surrendered: Math.max(surrendered, epoch),
    });
  }

  #absent(): Process[] {
    const named = new Set(namesOf(this.plan));
    return this.processes.filter(
      ({ isRegistered, record }) => !isRegistered && named.has(record.incarnation),
    );
  }

  #waitOut(process: Process | undefined): void {
    if (!process) return;
    this.#waitedOut.add(process.record.incarnation);
    process.isWaitedOut = true;
  }

  #refresh(): void {
    for (const { record, isRegistered } of this.processes) {
      const { incarnation } = record;
      if (isRegistered) this.#view.set(incarnation, record);
      else {
        const last = this.#view.get(incarnation);
        if (last) this.#lastWords.set(incarnation, last);
        this.#view.delete(incarnation);
      }
    }
  }

  /** Whether the holder of this item has truly let go. */
  #hasLetGo(plan: Plan, item: number): boolean {
    const { incarnation } = plan.members[plan.owners[item]!]!;
    const { record, isWaitedOut } = this.processes.find(
      (process) => process.record.incarnation === incarnation,
    )!;
    const mark = plan.marks[item]!;
    return (
      isWaitedOut || record.surrendered >= plan.tokens[item]! || (mark > 0 && record.acked >= mark)
    );
  }

  #check(before: Plan | undefined, after: Plan, viewed: ReadonlySet<string>): void {
    const said = `${wordsOf(before)} → ${wordsOf(after)}`;
    for (const { record } of this.processes.filter((process) => process.isRegistered)) {
      if (!viewed.has(record.incarnation)) continue;
      const known = this.#view.get(record.incarnation)!;
      assert(after.epoch > Math.max(known.acked, known.surrendered), `epoch: ${said}`);
    }
    assert(after.epoch > (before?.epoch ?? 0), `epoch: ${said}`);
    for (let item = 0; item < after.total; item++) this.#checkGrant(before, after, item, said);
    if (!before) return;
    const most = moveLimit(config(1, this.#settings), after.total);
    const isLimited = after.total === after.nextTotal && before.marks.every((mark) => mark === 0);
    const taken = after.marks.filter((mark) => mark > 0).length;
    if (isLimited) assert(taken <= most, `${taken} at once: ${said}`);
    let revoked = false;
    for (let item = 0; item < before.total; item++) {
      if (before.owners[item]! < 0) continue;
      const isStill =
        after.total === before.total &&
        after.owners[item]! >= 0 &&
        after.members[after.owners[item]!]!.incarnation ===
          before.members[before.owners[item]!]!.incarnation &&
        after.tokens[item] === before.tokens[item];
      if (!isStill) {
        this.moves += 1;
        assert(this.#hasLetGo(before, item), `item ${item} was not let go: ${said}`);
        continue;
      }
      const mark = after.marks[item]!;
      const former = before.marks[item]!;
      assert(former > 0 ? mark === former : mark === 0 || mark === after.epoch, `marks: ${said}`);
      revoked ||= former === 0 && mark > 0;
    }
    if (revoked) assert(!this.#isOutstanding(before, after), `revoked too early: ${said}`);
  }

  #checkGrant(before: Plan | undefined, after: Plan, item: number, said: string): void {
    const token = after.tokens[item]!;
    if (after.owners[item]! < 0) {
      assert(token === 0 && after.marks[item] === 0, `nobody has a token: ${said}`);
      return;
    }
    const newest = this.#newestToken.get(item) ?? 0;
    const wasThere = before?.total === after.total && before.tokens[item] === token;
    assert(wasThere ? token === newest : token > newest, `tokens do not rise: ${said}`);
    assert(wasThere || token === after.epoch, `a grant with an old token: ${said}`);
    this.#newestToken.set(item, token);
  }

  /** A live member is still asked for something of before. */
  #isOutstanding(before: Plan, after: Plan): boolean {
    return Array.from(before.marks.keys()).some((item) => {
      const isAsked = before.marks[item]! > 0 && after.marks[item] === before.marks[item];
      return isAsked && this.#view.has(before.members[before.owners[item]!]!.incarnation);
    });
  }
}

const eventArbitrary: fc.Arbitrary<Event> = fc.tuple(fc.constantFrom(...KINDS), fc.nat(1_000));
const totalArbitrary = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.constant('instances' as const) },
);

describe('next in a random world', () => {
  it('takes only safe steps, and comes to a settled, balanced rest (12,000 worlds)', () => {
    fc.assert(
      fc.property(totalArbitrary, fc.array(eventArbitrary, { maxLength: 60 }), (total, events) => {
        const world = new World(total);
        for (const event of events) world.happen(event);
        world.settle();
        world.checkRest();
        // From rest a further step says nothing, and one that is asked for says the same.
        assert.equal(world.step().plan, undefined);
        const before = wordsOf(world.plan);
        assert.equal(wordsOf(world.step(true).plan), before);
      }),
      { numRuns: 12_000 },
    );
  });

  it('does so whatever operators say, and whoever is waited for (12,000 worlds)', () => {
    const happenings = fc.array(fc.tuple(fc.constantFrom(...OPERATED), fc.nat(1_000)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(totalArbitrary, happenings, (total, events) => {
        const world = new World(total);
        for (const event of events) world.happen(event);
        world.settle();
        world.checkOperatedRest();
        assert.equal(world.step().plan, undefined);
        const before = wordsOf(world.plan);
        assert.equal(wordsOf(world.step(true).plan), before);
      }),
      { numRuns: 12_000 },
    );
  });

  it('moves in waves no more than at once (3,000 worlds)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 5 }),
        (count, total, maxMoves) => {
          const world = new World(total, { maxMoves });
          for (let index = 0; index < count; index++) world.happen(['join', index]);
          world.settle();
          world.moves = 0;
          world.happen(['join', count]);
          world.settle();
          world.checkRest();
          const isNew = count < 6;
          assert.equal(world.moves, isNew ? Math.floor(total / (count + 1)) : 0);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('gives whoever comes back in time just what it had, and moves nothing else (3,000 worlds)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom('leave' as const, 'die' as const),
        fc.boolean(),
        fc.nat(),
        (count, total, kind, lends, choice) => {
          const world = new World(total);
          for (let index = 0; index < count; index++) world.happen(['join', index]);
          const away = world.processes[choice % count]!;
          away.record = { ...away.record, rejoinWindow: 9, lends };
          world.settle();
          const before = world.heldBy.map((holder) => holder?.[0]);
          world.happen([kind, choice % count]);
          world.settle();
          away.isRegistered = false;
          if (!lends) {
            const others = before.map((id) => (id === away.record.id ? undefined : id));
            assert.deepEqual(
              world.heldBy.map((holder) => holder?.[0]),
              others,
            );
          }
          world.happen(['rejoin', 0]);
          world.settle();
          assert.deepEqual(
            world.heldBy.map((holder) => holder?.[0]),
            before,
          );
          assert.equal(world.plan?.away.length, 0);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  /** After exactly one join, leave or death in a settled group. */
  it('moves exactly the lower bound when one thing happens (3,000 worlds)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom('join' as const, 'leave' as const, 'die' as const, 'lapse' as const),
        fc.nat(),
        (count, total, kind, choice) => {
          const world = new World(total);
          for (let index = 0; index < count; index++) world.happen(['join', index]);
          world.settle();
          world.checkRest();
          const before = world.heldBy;
          const leaver = world.processes[choice % count]!.record.incarnation;
          const theirs = before.filter((holder) => holder === leaver).length;
          world.moves = 0;
          world.happen(kind === 'join' ? ['join', count] : [kind, choice % count]);
          world.settle();
          world.checkRest();
          const changed = before.filter((holder, item) => holder !== world.heldBy[item]).length;
          if (kind === 'join') {
            assert.equal(world.moves, Math.floor(total / (count + 1)));
            assert.equal(changed, world.moves);
          } else {
            assert.equal(world.moves, theirs);
            assert(changed <= theirs);
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
