import { describe, expect, it } from '@jest/globals';
import { member, planOf } from '../../test/kit/plans.js';
import { type GroupConfig, newConfig } from '../coordinator/group-config.js';
import type { MemberRecord } from '../coordinator/member-record.js';
import type { Plan } from '../coordinator/plan.js';
import { StrategyBook } from '../coordinator/strategy-book.js';
import { silentLog } from '../registry/environment.js';
import { explain } from './explain.js';

const [a, b] = [member('a1'), member('b1')];

function waits(plan: Plan, members: readonly MemberRecord[], change: Partial<GroupConfig> = {}) {
  const config = { ...newConfig(plan.total, 'sticky'), ...change };
  return explain(plan, members, config, new StrategyBook({}, 'group', silentLog));
}

describe('why an item waits', () => {
  it('is said of none in a settled group', () => {
    expect(waits(planOf('a1:5 a1:5 b1:5 b1:5'), [a, b])).toEqual([]);
  });

  it('its holder was asked to let go', () => {
    const plan = planOf('a1:5 a1:5!6 a1:5!6 a1:5', { members: ['b1'], settled: false });
    expect(waits(plan, [a, b])).toEqual([
      {
        items: [1, 2],
        from: 'a',
        to: 'b',
        reason: 'draining',
        why: 'waits for a to let go (at most 10 s, its drainTimeout)',
      },
    ]);
  });

  it('its holder has let go, and the leader has not got to it yet', () => {
    const plan = planOf('a1:5 a1:5!6', { members: ['b1'], settled: false });
    const [wait] = waits(plan, [member('a1', { acked: 6 }), b]);
    expect(wait).toMatchObject({ items: [1], from: 'a', to: 'b', reason: 'leader' });
  });

  it('its holder is gone', () => {
    const [wait] = waits(planOf('a1:5 b1:5'), [a]);
    expect(wait).toEqual({
      items: [1],
      from: 'b',
      to: 'a',
      reason: 'lease',
      why: 'b is gone; its lease of 5 s is waited out',
    });
  });

  it('it is kept for somebody', () => {
    const away = [{ id: 'b', window: 9_000, lends: false, weight: 1, labels: {} }];
    const plan = planOf('a1:5 -', { away, homes: Int32Array.from([-1, 0]) });
    const [wait] = waits(plan, [a]);
    expect(wait).toMatchObject({ items: [1], reason: 'reserved' });
    expect(wait!.why).toBe('reserved for b, which may come back');
  });

  it('it is kept for somebody who counts for the total too', () => {
    const away = [{ id: 'b', window: 9_000, lends: false, weight: 1, labels: {} }];
    const plan = planOf('a1:5 -', { away, homes: Int32Array.from([-1, 0]) });
    expect(waits(plan, [a], { total: 'instances' })).toEqual([
      expect.objectContaining({ items: [1], reason: 'reserved' }),
    ]);
  });

  it('the total changes', () => {
    const plan = planOf('a1:5 a1:5', { nextTotal: 3, settled: false });
    const [wait] = waits(plan, [a], { total: 3 });
    expect(wait).toMatchObject({ items: [0, 1], from: 'a', reason: 'total' });
    expect(wait!.why).toContain('from 2 to 3');
    expect(wait).not.toHaveProperty('to');
  });

  it('the group is paused', () => {
    const plan = planOf('a1:5 a1:5', { members: ['b1'] });
    const [wait] = waits(plan, [a, b], { paused: true });
    expect(wait).toMatchObject({ from: 'a', to: 'b', reason: 'paused' });
    expect(waits(planOf('a1:5'), [a], { paused: true, total: 2 })[0]).toMatchObject({
      reason: 'paused',
    });
  });

  it('nothing but the leader, while the group is paused and nobody holds it', () => {
    const config = { paused: true, items: { 1: { disabled: true } } };
    for (const total of [3, 4]) {
      const all = waits(planOf('a1:5 - -'), [a, b], { ...config, total });
      expect(all.filter(({ from }) => from === undefined)).toEqual([
        expect.objectContaining({ items: [1], reason: 'disabled' }),
        expect.objectContaining({ items: [2], reason: 'leader' }),
      ]);
    }
  });

  it('as many are on the move as may be', () => {
    const plan = planOf('a1:5 a1:5 a1:5!6 a1:5', { members: ['b1'], settled: false });
    const all = waits(plan, [a, b], { maxMoves: 1 });
    expect(all.map(({ reason }) => reason).toSorted()).toEqual(['draining', 'limit']);
    expect(all.find(({ reason }) => reason === 'limit')!.why).toBe(
      'no more than 1 may be on the move at once',
    );
  });

  it('where it goes is known however few may be on the move', () => {
    const plan = planOf(Array(12_000).fill('a1:5').join(' '), { members: ['b1'] });
    const began = performance.now();
    const [wait] = waits(plan, [a, b], { maxMoves: 1 });
    expect(wait).toMatchObject({ from: 'a', to: 'b' });
    expect(wait!.items).toHaveLength(6_000);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it('others are on the move', () => {
    const plan = planOf('a1:5 a1:5 a1:5 a1:5!6', { members: ['b1'], settled: false });
    expect(
      waits(plan, [a, b])
        .map(({ reason }) => reason)
        .toSorted(),
    ).toEqual(['draining', 'queued']);
  });

  it('it is disabled, or needs what nobody has', () => {
    const items = { 0: { disabled: true }, 1: { needs: { zone: 'a' } } };
    expect(waits(planOf('- - a1:5'), [a], { items })).toEqual([
      { items: [0], reason: 'disabled', why: 'disabled by an operator' },
      { items: [1], reason: 'needs', why: 'no instance has zone=a' },
    ]);
  });

  it('nobody may hold anything', () => {
    const [wait] = waits(planOf('-'), [member('a1', { weight: 0 })]);
    expect(wait).toMatchObject({ items: [0], reason: 'nobody' });
  });

  it('the leader has yet to begin', () => {
    const [wait] = waits(planOf('a1:5 a1:5', { members: ['b1'] }), [a, b]);
    expect(wait).toMatchObject({ from: 'a', to: 'b', reason: 'leader' });
  });
});
