import { beforeEach, describe, expect, it } from '@jest/globals';
import { Recording } from '../../test/conformance/recording.js';
import { deferred } from '../../test/kit/eventually.js';
import { type VirtualClock, VirtualTime } from '../../test/kit/virtual-clock.js';
import { aborted$, after, Deadline, endsWithin, SerialQueue, WakeableLoop } from './async.js';

let time: VirtualTime;
let clock: VirtualClock;
beforeEach(() => {
  time = new VirtualTime();
  clock = time.clock();
});

describe('after', () => {
  it('emits once, on the given clock', async () => {
    const seen = new Recording(after(clock, 100));
    await time.advance(99);
    expect(seen.values).toHaveLength(0);
    await time.advance(1);
    expect([seen.values.length, seen.completed]).toEqual([1, true]);
  });

  it('leaves no timer behind', () => {
    after(clock, 100).subscribe().unsubscribe();
    expect(time.pending).toBe(0);
  });
});

describe('aborted$', () => {
  it('emits when the signal aborts, and at once if it has', () => {
    const controller = new AbortController();
    const before = new Recording(aborted$(controller.signal));
    const gone = new Recording(aborted$(controller.signal));
    gone.stop();
    expect(before.values).toHaveLength(0);
    controller.abort();
    const late = new Recording(aborted$(controller.signal));
    expect([before.completed, late.completed, gone.completed]).toEqual([true, true, false]);
  });
});

describe('endsWithin', () => {
  it('tells whether the work ended in time, be it by a rejection', async () => {
    expect(await endsWithin(clock, Promise.resolve(), 100)).toBe(true);
    expect(await endsWithin(clock, Promise.reject(new Error('work')), 100)).toBe(true);
    expect(time.pending).toBe(0);
    let outcome: boolean | undefined;
    void endsWithin(clock, new Promise(() => {}), 100).then((ended) => (outcome = ended));
    await time.advance(99);
    expect(outcome).toBeUndefined();
    await time.advance(1);
    expect(outcome).toBe(false);
  });

  it('does not wait where no time is left', async () => {
    let outcome: boolean | undefined;
    void endsWithin(clock, new Promise(() => {}), -5).then((ended) => (outcome = ended));
    await time.settle();
    expect(outcome).toBe(false);
  });
});

describe('Deadline', () => {
  it('is one bound for many, and leaves no timer behind', async () => {
    const deadline = new Deadline(clock, 100);
    const outcomes: boolean[] = [];
    const never = (): Promise<void> => new Promise(() => {});
    for (let count = 0; count < 3; count++) {
      void deadline.meets(never()).then((met) => outcomes.push(met));
    }
    expect(time.pending).toBeLessThanOrEqual(1);
    expect(await deadline.meets(Promise.resolve())).toBe(true);
    expect(await deadline.meets(Promise.reject(new Error('work')))).toBe(true);
    await time.advance(99);
    expect(outcomes).toEqual([]);
    await time.advance(1);
    expect(outcomes).toEqual([false, false, false]);
    void deadline.meets(never()).then((met) => outcomes.push(met));
    await time.settle();
    expect(outcomes).toHaveLength(4);
    expect(time.pending).toBe(0);
  });

  it('can be called off', () => {
    new Deadline(clock, 100).cancel();
    expect(time.pending).toBe(0);
  });
});

describe('SerialQueue', () => {
  it('runs one job after the other, in order', async () => {
    const queue = new SerialQueue();
    const [first, second] = [deferred(), deferred()];
    const events: string[] = [];
    const add = (name: string, end: Promise<void>): Promise<void> =>
      queue.add(async () => {
        events.push(name);
        await end;
        events.push(`end of ${name}`);
      });
    const all = [add('first', first.promise), add('second', second.promise)];
    await time.settle();
    second.resolve();
    await time.settle();
    expect(events).toEqual(['first']);
    first.resolve();
    await Promise.all(all);
    expect(events).toEqual(['first', 'end of first', 'second', 'end of second']);
  });
});

describe('WakeableLoop', () => {
  it('joins everything that wakes it in the same turn, and what wakes it during a round', async () => {
    let rounds = 0;
    let running = 0;
    const gates = [deferred(), deferred(), deferred()];
    const loop = new WakeableLoop(async () => {
      running += 1;
      expect(running).toBe(1);
      await gates[rounds++]?.promise;
      running -= 1;
    });
    loop.wake();
    loop.wake();
    loop.wake();
    await time.settle();
    expect(rounds).toBe(1);
    loop.wake();
    loop.wake();
    gates[0]!.resolve();
    await time.settle();
    expect(rounds).toBe(2);
    gates[1]!.resolve();
    await time.settle();
    expect(rounds).toBe(2);
    loop.wake();
    await time.settle();
    expect(rounds).toBe(3);
  });

  it('misses no wake-up, at whatever moment of a round it comes', async () => {
    for (let delay = 0; delay < 10; delay++) {
      let seen = 0;
      let value = 0;
      const loop = new WakeableLoop(async () => {
        seen = value;
      });
      value = 1;
      loop.wake();
      for (let turn = 0; turn < delay; turn++) await Promise.resolve();
      value = 2;
      loop.wake();
      await time.settle();
      expect(seen).toBe(2);
    }
  });

  it('begins no round after its stop, which waits for the present one', async () => {
    const gate = deferred();
    let rounds = 0;
    const loop = new WakeableLoop(async () => {
      rounds += 1;
      await gate.promise;
    });
    loop.wake();
    await time.settle();
    loop.wake();
    let isStopped = false;
    void loop.stop().then(() => (isStopped = true));
    await time.settle();
    expect(isStopped).toBe(false);
    gate.resolve();
    await time.settle();
    loop.wake();
    await time.settle();
    expect([isStopped, rounds]).toEqual([true, 1]);
  });
});
