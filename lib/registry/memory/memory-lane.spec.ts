import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { VirtualTime } from '../../../test/kit/virtual-clock.js';
import { MemoryLane } from './memory-lane.js';

describe('a lane', () => {
  it('without latency delivers in a microtask, never within the call', async () => {
    const time = new VirtualTime();
    const lane = new MemoryLane(time.clock(), () => 0);
    const delivered: number[] = [];
    lane.send(() => delivered.push(1));
    lane.send(() => delivered.push(2));
    expect(delivered).toEqual([]);
    await Promise.resolve();
    expect([delivered, time.pending]).toEqual([[1, 2], 0]);
  });

  it('delays what is sent after the latency changed, and only that', async () => {
    const time = new VirtualTime();
    let latency = 0;
    const lane = new MemoryLane(time.clock(), () => latency);
    const delivered: number[] = [];
    lane.send(() => delivered.push(1));
    latency = 10;
    lane.send(() => delivered.push(2));
    await time.settle();
    expect(delivered).toEqual([1]);
    await time.advance(10);
    expect(delivered).toEqual([1, 2]);
  });

  it('delivers everything once and in order, each as soon as its latency and those before allow', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ latency: fc.nat(10), pause: fc.nat(5) }), { maxLength: 50 }),
        async (parcels) => {
          const time = new VirtualTime();
          let latency = 0;
          const lane = new MemoryLane(time.clock(), () => latency);
          const delivered: { index: number; at: number }[] = [];
          const due: number[] = [];
          for (const [index, parcel] of parcels.entries()) {
            latency = parcel.latency;
            due.push(Math.max(due.at(-1) ?? 0, time.now + latency));
            lane.send(() => delivered.push({ index, at: time.now }));
            await time.advance(parcel.pause);
          }
          await time.advance(20);
          expect(delivered).toEqual(due.map((at, index) => ({ index, at })));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('keeps while frozen what it has, and what comes', async () => {
    const time = new VirtualTime();
    const lane = new MemoryLane(time.clock(), () => 0);
    const delivered: number[] = [];
    lane.send(() => {
      delivered.push(1);
      lane.freeze();
    });
    lane.send(() => delivered.push(2));
    await time.settle();
    lane.send(() => delivered.push(3));
    await time.settle();
    expect([delivered, lane.frozen]).toEqual([[1], true]);
    lane.thaw();
    await time.settle();
    expect([delivered, lane.frozen]).toEqual([[1, 2, 3], false]);
  });

  it('forgets what is cleared, also in the middle of delivering', async () => {
    const time = new VirtualTime();
    const lane = new MemoryLane(time.clock(), () => 0);
    const delivered: number[] = [];
    lane.send(() => {
      delivered.push(1);
      lane.clear();
      lane.send(() => delivered.push(3));
    });
    lane.send(() => delivered.push(2));
    await time.settle();
    expect(delivered).toEqual([1, 3]);
  });
});
