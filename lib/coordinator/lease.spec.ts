import { beforeEach, describe, expect, it } from '@jest/globals';
import { type VirtualClock, VirtualTime } from '../../test/kit/virtual-clock.js';
import { AbsenceWait, instantOf, Lease } from './lease.js';

const D = 1_000;

let time: VirtualTime;
let clock: VirtualClock;
let isTimed: boolean;
let lease: Lease;

beforeEach(() => {
  time = new VirtualTime();
  clock = time.clock();
  isTimed = true;
  lease = new Lease(clock, D, () => isTimed);
});

describe('Lease', () => {
  it('gives no right before the first renewal', () => {
    expect(lease.isValid).toBe(false);
    expect(lease.hasLapsed).toBe(false);
  });

  it('counts from the sending, not from the answer', async () => {
    const sent = instantOf(clock);
    await time.advance(900);
    expect(lease.renew(sent)).toBe(true);
    expect(lease.isValid).toBe(true);
    await time.advance(99);
    expect(lease.isValid).toBe(true);
    await time.advance(1);
    expect(lease.isValid).toBe(false);
    expect(lease.hasLapsed).toBe(true);
  });

  it('is prolonged by a renewal', async () => {
    lease.renew(instantOf(clock));
    await time.advance(600);
    expect(lease.renew(instantOf(clock))).toBe(true);
    await time.advance(999);
    expect(lease.isValid).toBe(true);
  });

  it('is not revived by a late answer, nor by any later one', async () => {
    lease.renew(instantOf(clock));
    await time.advance(500);
    const sent = instantOf(clock);
    await time.advance(500);
    expect(lease.renew(sent)).toBe(false);
    expect(lease.isValid).toBe(false);
    expect(lease.renew(instantOf(clock))).toBe(false);
    expect(lease.isValid).toBe(false);
    expect(lease.hasLapsed).toBe(true);
  });

  it('counts again after what was held has been given up', async () => {
    lease.renew(instantOf(clock));
    await time.advance(2_000);
    lease.restart();
    expect(lease.hasLapsed).toBe(false);
    expect(lease.isValid).toBe(false);
    expect(lease.renew(instantOf(clock))).toBe(true);
    expect(lease.isValid).toBe(true);
  });

  it('has not lapsed when its first answer comes too late: nothing was ever held under it', async () => {
    const sent = instantOf(clock);
    await time.advance(1_500);
    expect(lease.renew(sent)).toBe(false);
    expect(lease.isValid).toBe(false);
    expect(lease.hasLapsed).toBe(false);
    expect(lease.renew(instantOf(clock))).toBe(true);
    expect(lease.isValid).toBe(true);
  });

  it('takes the larger of both clocks: a suspended machine counts', () => {
    lease.renew(instantOf(clock));
    clock.stepWall(999);
    expect(lease.isValid).toBe(true);
    clock.stepWall(1);
    expect(lease.isValid).toBe(false);
  });

  it('takes the larger of both clocks: a wall clock set back changes nothing', async () => {
    lease.renew(instantOf(clock));
    clock.stepWall(-10_000);
    await time.advance(999);
    expect(lease.isValid).toBe(true);
    await time.advance(1);
    expect(lease.isValid).toBe(false);
  });

  it('answers from the clock itself, before any timer has run', () => {
    let now = 0;
    const paused = new Lease(
      { monotonic: () => now, wall: () => 0, setTimer: () => ({ cancel: () => {} }) },
      D,
      () => true,
    );
    paused.renew({ monotonic: 0, wall: 0 });
    now = D;
    expect(paused.isValid).toBe(false);
  });

  it('reads both clocks again as soon as the wall clock shows another millisecond', () => {
    let monotonic = 0;
    let wall = 5_000;
    let readings = 0;
    const asked = new Lease(
      {
        monotonic: () => ((readings += 1), monotonic),
        wall: () => wall,
        setTimer: () => ({ cancel: () => {} }),
      },
      D,
      () => true,
    );
    asked.renew({ monotonic: 0, wall });
    const before = readings;
    for (let question = 0; question < 100; question++) expect(asked.isValid).toBe(true);
    expect(readings - before).toBe(1);

    // Paused past the lease, while somebody set the wall clock back.
    monotonic = D;
    wall -= 1;
    expect(asked.isValid).toBe(false);
  });

  describe('where time does not count', () => {
    beforeEach(() => {
      isTimed = false;
    });

    it('never lapses', async () => {
      lease.renew(instantOf(clock));
      await time.advance(1_000_000);
      expect(lease.isValid).toBe(true);
      expect(lease.hasLapsed).toBe(false);
    });

    it('begins to run when time begins to count', async () => {
      lease.renew(instantOf(clock));
      await time.advance(1_000_000);
      isTimed = true;
      lease.startTiming();
      expect(lease.isValid).toBe(true);
      await time.advance(D);
      expect(lease.hasLapsed).toBe(true);
    });
  });
});

describe('AbsenceWait', () => {
  const wait = (onOver: () => void): AbsenceWait => new AbsenceWait(clock, D, 100, onOver);

  it('lasts for the duration and the margin', async () => {
    let isOver = false;
    wait(() => (isOver = true));
    await time.advance(1_099);
    expect(isOver).toBe(false);
    await time.advance(1);
    expect(isOver).toBe(true);
  });

  it('is not shortened by a wall clock that steps ahead', async () => {
    let isOver = false;
    wait(() => (isOver = true));
    clock.stepWall(1_000_000);
    await time.advance(1_099);
    expect(isOver).toBe(false);
  });

  it('can be called off', async () => {
    let isOver = false;
    wait(() => (isOver = true)).cancel();
    await time.advance(10_000);
    expect(isOver).toBe(false);
    expect(time.pending).toBe(0);
  });

  it('outlasts the lease of a holder whose clock runs slower by less than the margin', async () => {
    const slow = time.clock({ rate: 0.95 });
    const theirs = new Lease(slow, D, () => true);
    theirs.renew(instantOf(slow));
    const wasValid: boolean[] = [];
    wait(() => wasValid.push(theirs.isValid));
    await time.advance(1_100);
    expect(wasValid).toEqual([false]);
  });
});
