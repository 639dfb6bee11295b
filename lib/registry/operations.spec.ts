import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { failure, outcome } from '../../test/conformance/recording.js';
import { type VirtualClock, VirtualTime } from '../../test/kit/virtual-clock.js';
import { type Answer, Operations } from './operations.js';
import type { OperationOptions } from './registry.js';
import { NoNodeError } from './registry.errors.js';

class Fixture {
  readonly time = new VirtualTime();
  readonly clock: VirtualClock = this.time.clock();
  readonly operations = new Operations(this.clock, () => 1_000);
  /** What was sent, by the path. */
  readonly sent: string[] = [];
  readonly answers = new Map<string, Answer<string>>();

  run(path: string, options: OperationOptions = {}): Promise<string> {
    return this.operations.run<string>({ operation: 'get', path }, options, (answer) => {
      this.sent.push(path);
      this.answers.set(path, answer);
    });
  }
}

describe('operations', () => {
  it('are sent at once while connected and end by their answer', async () => {
    const { operations, answers, time, run } = bound(new Fixture());
    operations.connected('s1');
    const good = run('/a');
    const bad = failure(run('/b'));
    expect(operations.pending).toBe(2);
    answers.get('/a')?.resolve('data');
    answers.get('/b')?.reject(new NoNodeError({ operation: 'get', path: '/b' }));
    expect(await good).toBe('data');
    expect(await bad).toMatchObject({ code: 'NO_NODE' });
    expect([operations.pending, time.pending]).toEqual([0, 0]);
  });

  it('refuse a timeout within which nothing can be answered, sending nothing', async () => {
    const { operations, sent, run } = bound(new Fixture());
    operations.connected('s1');
    for (const timeout of [0, -1, NaN, null as never]) {
      const error = await failure(run('/a', { timeout }));
      expect(error).toMatchObject({ code: 'INVALID' });
      expect(error.message).toContain(`get /a: the timeout is ${timeout}`);
    }
    expect([sent, operations.pending]).toEqual([[], 0]);
    void run('/a', { timeout: Infinity });
    expect(sent).toEqual(['/a']);
  });

  it('wait for a connection and are sent in order, before whatever is called later', async () => {
    const { operations, sent, run } = bound(new Fixture());
    void run('/a');
    void run('/b');
    expect(sent).toEqual([]);
    operations.connected('s1');
    void run('/c');
    expect(sent).toEqual(['/a', '/b', '/c']);
  });

  it('called while those that waited are being sent queue up behind them', async () => {
    const fixture = new Fixture();
    const { operations, sent } = fixture;
    void operations.run<string>({ operation: 'get', path: '/a' }, {}, () => {
      sent.push('/a');
      void fixture.run('/c');
    });
    void fixture.run('/b');
    operations.connected('s1');
    expect(sent).toEqual(['/a', '/b', '/c']);
  });

  it('that were sent have an unknown outcome when the connection breaks; the others wait on', async () => {
    const { operations, sent, run, answers } = bound(new Fixture());
    operations.connected('s1');
    const first = failure(run('/a'));
    operations.disconnected();
    const second = run('/b');
    expect(await first).toMatchObject({ code: 'CONNECTION_LOST', outcomeUnknown: true });
    operations.connected('s1');
    expect(sent).toEqual(['/a', '/b']);
    answers.get('/b')?.resolve('data');
    expect(await second).toBe('data');
  });

  it('all end with the session that they belong to', async () => {
    const { operations, run } = bound(new Fixture());
    operations.connected('s1');
    const sent = failure(run('/a'));
    operations.disconnected();
    const waiting = failure(run('/b'));
    operations.sessionLost();
    expect(await sent).toMatchObject({ code: 'CONNECTION_LOST', outcomeUnknown: true });
    expect(await waiting).toMatchObject({ code: 'SESSION_LOST', outcomeUnknown: false });
    operations.connected('s2');
    const next = failure(run('/c'));
    operations.sessionLost();
    expect(await next).toMatchObject({ code: 'SESSION_LOST', outcomeUnknown: true });
  });

  it('pinned to a session are refused in any other', async () => {
    const { operations, sent, run } = bound(new Fixture());
    const refused = { code: 'SESSION_LOST', outcomeUnknown: false };
    expect(await failure(run('/a', { session: 's1' }))).toMatchObject(refused);
    operations.connected('s1');
    void outcome(run('/b', { session: 's1' }));
    expect(await failure(run('/c', { session: 's2' }))).toMatchObject(refused);
    operations.disconnected();
    // Suspended is not lost: the session is still the one asked for.
    void outcome(run('/d', { session: 's1' }));
    operations.connected('s1');
    expect(sent).toEqual(['/b', '/d']);
  });

  it('end at their deadline, sent or not', async () => {
    const { operations, time, run } = bound(new Fixture());
    const waiting = failure(run('/a', { timeout: 10 }));
    await time.advance(10);
    expect(await waiting).toMatchObject({ code: 'TIMED_OUT', outcomeUnknown: false });
    operations.connected('s1');
    const sent = failure(run('/b', { timeout: 10 }));
    const byDefault = failure(run('/c'));
    const never = outcome(run('/d', { timeout: Infinity }));
    await time.advance(10);
    expect(await sent).toMatchObject({ code: 'TIMED_OUT', outcomeUnknown: true });
    await time.advance(989);
    expect(operations.pending).toBe(2);
    await time.advance(1);
    expect(await byDefault).toMatchObject({ code: 'TIMED_OUT' });
    await time.advance(1e9);
    expect(operations.pending).toBe(1);
    operations.closed();
    expect(await never).toBe('CLOSED');
  });

  it('end by their signal, sent or not, and leave no listener on it', async () => {
    const { operations, run, answers } = bound(new Fixture());
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    const waiting = failure(run('/a', { signal }));
    controller.abort();
    expect(await waiting).toMatchObject({ code: 'ABORTED', outcomeUnknown: false });
    expect(await failure(run('/b', { signal }))).toMatchObject({ code: 'ABORTED' });
    operations.connected('s1');
    const answered = run('/c', { signal: new AbortController().signal });
    answers.get('/c')?.resolve('data');
    await answered;
    expect(listeners).toBe(0);
  });

  it('end with the close, and none begins after it', async () => {
    const { operations, run, time } = bound(new Fixture());
    const waiting = failure(run('/a'));
    operations.connected('s1');
    const sent = failure(run('/b'));
    operations.closed();
    expect(await waiting).toMatchObject({ code: 'CLOSED', outcomeUnknown: true });
    expect(await sent).toMatchObject({ code: 'CLOSED', outcomeUnknown: true });
    expect(await failure(run('/c'))).toMatchObject({ code: 'CLOSED', outcomeUnknown: false });
    expect([operations.pending, time.pending]).toEqual([0, 0]);
  });

  it('end exactly once and are sent at most once, whatever happens in whatever order', async () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('run' as const), timeout: fc.constantFrom(5, 50, Infinity) }),
      fc.record({ kind: fc.constant('answer' as const), index: fc.nat(20) }),
      fc.record({ kind: fc.constant('abort' as const), index: fc.nat(20) }),
      fc.record({ kind: fc.constant('advance' as const), by: fc.nat(30) }),
      fc.record({
        kind: fc.constantFrom('connected', 'disconnected', 'sessionLost', 'closed'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
        const fixture = new Fixture();
        const { operations, time, sent, answers } = fixture;
        const controllers: AbortController[] = [];
        const ended: number[] = [];
        const promises: Promise<void>[] = [];
        let session = 0;
        for (const step of events) {
          if (step.kind === 'run') {
            const index = controllers.push(new AbortController()) - 1;
            const { signal } = controllers[index]!;
            promises.push(
              outcome(fixture.run(`/${index}`, { timeout: step.timeout, signal })).then(
                () => void ended.push(index),
              ),
            );
          } else if (step.kind === 'answer') answers.get(`/${step.index}`)?.resolve('data');
          else if (step.kind === 'abort') controllers[step.index]?.abort();
          else if (step.kind === 'advance') await time.advance(step.by);
          else if (step.kind === 'connected') operations.connected(`s${(session += 1)}`);
          else operations[step.kind]();
          if (step.kind === 'closed') break;
        }
        operations.closed();
        await Promise.all(promises);
        expect(ended.toSorted((a, b) => a - b)).toEqual(controllers.map((_, index) => index));
        expect(new Set(sent).size).toBe(sent.length);
        expect([operations.pending, time.pending]).toEqual([0, 0]);
      }),
      { numRuns: 200 },
    );
  });
});

/** The fixture with `run` as a plain function. */
function bound(fixture: Fixture) {
  const { operations, time, sent, answers } = fixture;
  const run = fixture.run.bind(fixture);
  return { operations, time, sent, answers, run };
}
