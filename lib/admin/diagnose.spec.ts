import { describe, expect, it } from '@jest/globals';
import { member, planOf } from '../../test/kit/plans.js';
import { newConfig } from '../coordinator/group-config.js';
import { StrategyBook } from '../coordinator/strategy-book.js';
import { silentLog } from '../registry/environment.js';
import { diagnose, hasWork, type ProblemCode } from './diagnose.js';
import type { GroupSnapshot, SeenInstance } from './snapshot.js';

const book = new StrategyBook({}, 'group', silentLog);
const at = 1_700_000_000_000;

const instance = (incarnation: string, change: Partial<SeenInstance> = {}): SeenInstance => {
  const record = member(incarnation);
  return { id: record.id, session: 's', record, ...change };
};

/** Two instances with two items each, and nothing wrong. */
function snapshot(change: Partial<GroupSnapshot> = {}): GroupSnapshot {
  const office = { id: 'a', incarnation: 'a1', lease: 5_000, term: 1, owed: 0 };
  return {
    namespace: 'group',
    at,
    roundTrip: 2,
    config: { kind: 'config', config: newConfig(4, 'sticky'), version: 0 },
    plan: { kind: 'plan', version: 0, node: '1', plan: planOf('a1:5 a1:5 b1:5 b1:5', { office }) },
    instances: [instance('a1'), instance('b1')],
    leases: [{ id: 'a', session: 's', mayHold: true }],
    candidates: [
      { id: 'a', session: 's' },
      { id: 'b', session: 's' },
    ],
    isAsked: false,
    history: [],
    ...change,
  };
}

const configured = (change: object): Partial<GroupSnapshot> => ({
  config: { kind: 'config', config: { ...newConfig(4, 'sticky'), ...change }, version: 0 },
});

describe('a diagnosis', () => {
  it('finds nothing wrong with a group that is well', () => {
    expect(diagnose(snapshot(), book)).toEqual([]);
    expect(hasWork(snapshot(), book)).toBe(false);
  });

  it.each<[ProblemCode, string, Partial<GroupSnapshot>]>([
    [
      'unreadable-plan',
      'error',
      { plan: { kind: 'unreadable', version: 0, node: '1', reason: 'broken', isNewer: false } },
    ],
    [
      'unreadable-config',
      'error',
      { config: { kind: 'unreadable', reason: 'broken', version: 0 } },
    ],
    ['no-config', 'error', { config: { kind: 'absent' } }],
    [
      'unreadable-instance',
      'error',
      { instances: [instance('a1'), instance('b1'), instance('c1', { record: undefined })] },
    ],
    [
      'two-formats',
      'warning',
      { instances: [instance('a1'), instance('b1', { record: member('b1', { format: 2 }) })] },
    ],
    [
      'stale-node',
      'error',
      { instances: [instance('a1', { session: undefined }), instance('b1')] },
    ],
    ['stale-node', 'warning', { leases: [{ id: 'ghost', session: 's', mayHold: true }] }],
    ['no-leader', 'error', { candidates: [] }],
    [
      'nobody-holds',
      'warning',
      configured({ instances: { a: { disabled: true }, b: { drained: true } } }),
    ],
    ['unknown-strategy', 'note', configured({ strategy: 'ours' })],
    ['pin-ignored', 'warning', configured({ items: { 1: { pin: 'nobody' } } })],
    ['unplaced', 'warning', configured({ items: { 1: { needs: { zone: 'a' } } } })],
    ['out-of-range', 'note', configured({ items: { 9: { weight: 2 } } })],
    ['absent-instance', 'note', configured({ instances: { ghost: { cordoned: true } } })],
    ['paused', 'note', configured({ paused: true })],
    [
      'short-lease',
      'warning',
      { instances: [instance('a1', { record: member('a1', { lease: 500 }) }), instance('b1')] },
    ],
    ['slow-store', 'warning', { roundTrip: 2_000 }],
    ['clock-ahead', 'warning', { at: -100_000 }],
  ])('finds %s (%s)', (code, severity, change) => {
    const problems = diagnose(snapshot(change), book);
    expect(problems).toEqual([expect.objectContaining({ code, severity })]);
    expect(problems[0]!.message).toMatch(/^[A-Zb].+/);
    expect(problems[0]!.advice).toMatch(/^[A-Z].+/);
  });

  it('judges needs by who may be given items, and by who holds them', () => {
    const zoned = [
      instance('a1', { record: member('a1', { labels: { zone: 'a' } }) }),
      instance('b1'),
    ];
    const codes = (said: object, item: number) => {
      const items = { [item]: { needs: { zone: 'a' } } };
      const change = { ...configured({ items, instances: { a: said } }), instances: zoned };
      return diagnose(snapshot(change), book).map(({ code }) => code);
    };
    expect(codes({}, 2)).toEqual([]);
    expect(codes({ drained: true }, 0)).toEqual(['unplaced']);
    expect(codes({ cordoned: true }, 2)).toEqual(['unplaced']);
    expect(codes({ cordoned: true }, 0)).toEqual([]);
  });

  it('names the worst first', () => {
    const change = { ...configured({ paused: true }), roundTrip: 2_000, candidates: [] };
    const severities = diagnose(snapshot(change), book).map(({ severity }) => severity);
    expect(severities).toEqual(['error', 'warning', 'note']);
  });

  it.each<[string, Partial<GroupSnapshot>]>([
    ['leaves a request', { isAsked: true }],
    [
      'leaves an instance without items',
      { instances: [instance('a1'), instance('b1'), instance('c1')] },
    ],
    ['does not take office', { candidates: [{ id: 'b', session: 's' }] }],
  ])('finds a leader that %s for too long', (_, change) => {
    const seen = snapshot(change);
    expect(hasWork(seen, book)).toBe(true);
    const codes = (earlier?: GroupSnapshot) =>
      diagnose(seen, book, earlier).map(({ code }) => code);
    expect(codes()).not.toContain('idle-leader');
    expect(codes(seen)).toContain('idle-leader');
  });

  it('does not accuse a leader that may be putting a rebalance off', () => {
    const joined = snapshot({ instances: [instance('a1'), instance('b1'), instance('c1')] });
    expect(diagnose(joined, book, joined)).toEqual([
      expect.objectContaining({ code: 'idle-leader', severity: 'note' }),
    ]);
    const asked = snapshot({ isAsked: true });
    expect(diagnose(asked, book, asked)[0]).toMatchObject({ severity: 'error' });
  });

  it('has patience with a leader that waits, or has just written', () => {
    const plan = planOf('a1:5 a1:5!6 b1:5 b1:5', { settled: false });
    const office = { id: 'a', incarnation: 'a1', lease: 5_000, term: 1, owed: 0 };
    const draining = snapshot({
      plan: { kind: 'plan', version: 0, node: '1', plan: { ...plan, office } },
    });
    expect(hasWork(draining, book)).toBe(false);
    const asked = snapshot({ isAsked: true });
    const later = {
      ...asked,
      plan: { kind: 'plan' as const, version: 0, node: '1', plan: { ...plan, office, epoch: 9 } },
    };
    expect(diagnose(later, book, asked).map(({ code }) => code)).not.toContain('idle-leader');
  });
});
