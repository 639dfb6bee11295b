import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { VirtualTime } from './virtual-clock.js';

describe('virtual time', () => {
  it('stands still until it is told to pass', async () => {
    const time = new VirtualTime();
    const clock = time.clock();
    let fired = 0;
    clock.setTimer(() => (fired += 1), 10);
    await time.settle();
    expect([clock.monotonic(), fired, time.pending]).toEqual([0, 0, 1]);
    await time.advance(9);
    expect([clock.monotonic(), fired]).toEqual([9, 0]);
    await time.advance(1);
    expect([clock.monotonic(), fired, time.pending]).toEqual([10, 1, 0]);
  });

  it('fires timers by time, equal ones in the order they were set', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 200 }), async (delays) => {
        const time = new VirtualTime();
        const clock = time.clock();
        const fired: number[] = [];
        delays.forEach((delay, index) => clock.setTimer(() => fired.push(index), delay));
        await time.advance(20);
        const expected = delays
          .map((delay, index) => ({ delay, index }))
          .toSorted((a, b) => a.delay - b.delay || a.index - b.index)
          .map(({ index }) => index);
        expect(fired).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('does not fire what was cancelled, however much of it there is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ delay: fc.nat(50), cancel: fc.boolean() }), { maxLength: 300 }),
        async (plan) => {
          const time = new VirtualTime();
          const clock = time.clock();
          const fired: number[] = [];
          const timers = plan.map(({ delay }, index) =>
            clock.setTimer(() => fired.push(index), delay),
          );
          plan.forEach(({ cancel }, index) => cancel && timers[index]?.cancel());
          const kept = plan.flatMap(({ cancel }, index) => (cancel ? [] : [index]));
          expect(time.pending).toBe(kept.length);
          await time.advance(50);
          expect(fired.toSorted((a, b) => a - b)).toEqual(kept);
          for (const timer of timers) timer.cancel();
          expect(time.pending).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('lets every promise go on before the next timer', async () => {
    const time = new VirtualTime();
    const clock = time.clock();
    const story: string[] = [];
    const slowly = async (name: string): Promise<void> => {
      for (let step = 0; step < 50; step += 1) await Promise.resolve();
      story.push(name);
    };
    clock.setTimer(() => void slowly('first'), 1);
    clock.setTimer(() => story.push('second'), 1);
    await time.advance(1);
    expect(story).toEqual(['first', 'second']);
  });

  it('counts differently on clocks of different rates', async () => {
    const time = new VirtualTime();
    const fast = time.clock({ rate: 2 });
    const slow = time.clock({ rate: 0.5 });
    const story: [string, number][] = [];
    slow.setTimer(() => story.push(['slow', time.now]), 50);
    fast.setTimer(() => story.push(['fast', time.now]), 50);
    await time.advance(100);
    expect(story).toEqual([
      ['fast', 25],
      ['slow', 100],
    ]);
    expect([fast.monotonic(), slow.monotonic()]).toEqual([200, 50]);
  });

  it('never fires a timer before its own clock says so, at any rate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.5, max: 2, noNaN: true }),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 1e4, noNaN: true }),
        async (rate, start, delay) => {
          const time = new VirtualTime();
          await time.advance(start / 3);
          const clock = time.clock({ rate });
          await time.advance(start);
          const due = clock.monotonic() + delay;
          let firedAt = -1;
          clock.setTimer(() => (firedAt = clock.monotonic()), delay);
          await time.advance(2 * delay + 1);
          expect(firedAt).toBeGreaterThanOrEqual(due);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('runs until a condition holds, and says so when it cannot', async () => {
    const time = new VirtualTime();
    const clock = time.clock();
    let ticks = 0;
    const tick = (): void => {
      ticks += 1;
      clock.setTimer(tick, 10);
    };
    tick();
    await time.runUntil(() => ticks === 5);
    expect(time.now).toBe(40);
    await expect(time.runUntil(() => false, 100)).rejects.toThrow('not within 100 virtual ms');
    await expect(new VirtualTime().runUntil(() => false)).rejects.toThrow('no timer is left');
  });

  it('shows a wall clock that can be stepped', async () => {
    const time = new VirtualTime();
    const clock = time.clock({ wall: 1_000 });
    await time.advance(5);
    expect(clock.wall()).toBe(1_005);
    clock.stepWall(-100);
    expect([clock.wall(), clock.monotonic()]).toEqual([905, 5]);
  });
});
