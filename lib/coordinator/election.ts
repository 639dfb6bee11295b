import { distinctUntilChanged, filter, firstValueFrom, map, race, takeUntil } from 'rxjs';
import type { Environment } from '../registry/environment.js';
import { childPath, nodeName } from '../registry/node-path.js';
import { ANY_VERSION, type OperationOptions, type Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { sequenceOf, SureWrites } from '../registry/sure-writes.js';
import { aborted$, after, newScope } from './async.js';

export interface ElectionListener {
  /** Ours is the first latch node. */
  elected(): void;
  /** Our latch node is gone, though we did not delete it. The election is over for us. */
  deposed(): void;
}

/** How long to wait after an unexpected failure, so that a persistent one does not spin. */
const RETRY_DELAY = 1_000;

/**
 * The line for the leadership: one ephemeral sequential node for each candidate, each watching only the
 * one before it and its own. Everything is pinned to the session, so whoever loses it while waiting in
 * line never wakes up as a leader. Whoever led and was deposed has to stand with a new election.
 */
export class Election {
  readonly #writes: SureWrites;
  readonly #ended = newScope();
  #path: string | undefined;
  #isFirst = false;
  #running: Promise<void> | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
    private readonly latches: string,
    private readonly candidate: Buffer,
    private readonly session: string,
    private readonly listener: ElectionListener,
  ) {
    this.#writes = new SureWrites(registry, environment);
  }

  /** Whether ours was the first latch node when last looked at. */
  get isFirst(): boolean {
    return this.#isFirst;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** True unless we lead and our latch node is gone. */
  async isLatched(options: OperationOptions): Promise<boolean> {
    if (!this.#isFirst || this.#path === undefined) return true;
    const stat = await this.registry.exists(this.#path, options);
    return stat?.owner === this.session;
  }

  /** Leaves the line, or hands over to the next; tried again until the node is gone or the session is. */
  async resign(): Promise<void> {
    // At the head of the line nothing is under way that could make another node.
    const mayStillEnter = !this.#isFirst;
    this.#isFirst = false;
    this.#ended.abort();
    if (mayStillEnter) await this.#running;
    if (this.#path !== undefined) await this.#deleteLatch(this.#path);
    this.#path = undefined;
  }

  /** The session is over, and the latch node with it. */
  close(): void {
    this.#isFirst = false;
    this.#ended.abort();
  }

  get #pinned(): OperationOptions {
    return { session: this.session, signal: this.#ended.signal };
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        await this.#stand();
      } catch (error) {
        if (signal.aborted) break;
        const code = registryErrorCode(error);
        if (code === 'SESSION_LOST' || code === 'CLOSED') break;
        if (code === undefined || code === 'NO_AUTH') {
          this.environment.log.error(`The election failed: ${(error as Error).message}`);
        }
        await this.#pause();
      }
    }
  }

  /** Enters the line and waits in it; returns to start over if our node vanished from it. */
  async #stand(): Promise<void> {
    const path = await this.#enter();
    if (!(await this.#reachFront(path))) return;
    this.#isFirst = true;
    this.listener.elected();
    await this.#gone(path);
    this.#isFirst = false;
    this.#ended.abort();
    this.listener.deposed();
  }

  async #enter(): Promise<string> {
    // After a failure our node of before may still stand in line; it would lead for ever.
    if (this.#path !== undefined) await this.#deleteLatch(this.#path);
    // Without the signal: a creation given up half-way would leave a node that nobody knows of.
    this.#path = await this.#writes.createSequential(this.latches, 'latch-', this.candidate, {
      session: this.session,
      parents: true,
    });
    return this.#path;
  }

  /** True once ours is first, false if it vanished from the line. */
  async #reachFront(path: string): Promise<boolean> {
    for (;;) {
      // Sent together: whoever is first knows after one round trip that the node is its own.
      const [line, stat] = await Promise.all([
        this.registry.children(this.latches, this.#pinned),
        this.registry.exists(path, this.#pinned),
      ]);
      // What the store has not numbered was not made by a candidate, and is in nobody's way.
      const ordered = line
        .filter((name) => Number.isInteger(sequenceOf(name)))
        .toSorted((a, b) => sequenceOf(a) - sequenceOf(b));
      const place = ordered.indexOf(nodeName(path));
      if (place < 0) return false;
      if (place === 0) return stat?.owner === this.session;
      await this.#gone(childPath(this.latches, ordered[place - 1]!), path);
    }
  }

  /** Resolves when one of these nodes does not exist (any more). */
  async #gone(...paths: string[]): Promise<void> {
    const gone = paths.map((path) =>
      this.registry.watch(path).pipe(
        map((node) => node === undefined),
        distinctUntilChanged(),
        filter((isGone) => isGone),
      ),
    );
    await firstValueFrom(race(gone).pipe(takeUntil(aborted$(this.#ended.signal))));
  }

  async #deleteLatch(path: string): Promise<void> {
    // A failed delete that is forgotten would leave a leader that does nothing.
    for (;;) {
      try {
        return await this.registry.delete(path, ANY_VERSION, { session: this.session });
      } catch (error) {
        const code = registryErrorCode(error);
        if (code === 'NO_NODE' || code === 'SESSION_LOST' || code === 'CLOSED') return;
        if (code !== 'CONNECTION_LOST' && code !== 'TIMED_OUT') throw error;
      }
    }
  }

  #pause(): Promise<unknown> {
    const pause$ = after(this.environment.clock, RETRY_DELAY);
    return firstValueFrom(pause$.pipe(takeUntil(aborted$(this.#ended.signal))), {
      defaultValue: undefined,
    });
  }
}
