import { Observable, type Subscriber } from 'rxjs';
import type { NodeSnapshot, NodeStat } from './registry.js';
import { registryErrorCode } from './registry.errors.js';

/** Reads that leave a one-shot watch behind, as ZooKeeper has them. No deadline: they end with the connection. */
export interface WatchedReads {
  /** The node and a watch on its data; without the node `NoNodeError` and no watch. */
  get(path: string): Promise<NodeSnapshot>;
  /** The names of the children and a watch on them; without the node `NoNodeError` and no watch. */
  children(path: string): Promise<readonly string[]>;
  /** Leaves a watch in either case. */
  exists(path: string): Promise<NodeStat | undefined>;
  sync(path: string): Promise<void>;
}

/** What a fired watch told. */
export type WatchEvent = 'created' | 'deleted' | 'changed' | 'children';

/**
 * Turns one-shot watches into live views, the same way for every adapter. Invariants:
 * - a view has at most one read under way, so its values never go back in time within a session;
 * - the first read of a new session follows a `sync`, so they do not go back between sessions either;
 * - an event, or a reconnect, that comes while a read is under way leads to another read.
 */
export class LiveViews {
  readonly #nodes = new Map<string, View<NodeSnapshot>>();
  readonly #children = new Map<string, View<readonly string[]>>();
  #completed = false;

  constructor(private readonly reads: WatchedReads) {}

  /** How many views are being kept up to date. */
  get size(): number {
    return this.#nodes.size + this.#children.size;
  }

  node(path: string): Observable<NodeSnapshot | undefined> {
    return this.#observe(this.#nodes, path, (p) => this.reads.get(p), isSameNode);
  }

  children(path: string): Observable<readonly string[] | undefined> {
    return this.#observe(this.#children, path, (p) => this.reads.children(p), isSameList);
  }

  /** A watch fired: it is spent, so the views that relied on it read again. */
  notify(path: string, event: WatchEvent): void {
    const hint = { isDeleted: event === 'deleted' };
    if (event !== 'children') this.#nodes.get(path)?.refresh(hint);
    if (event !== 'changed') this.#children.get(path)?.refresh(hint);
  }

  /** Connected again: events may have been missed. In a new session what is read first must be fresh. */
  reconnected(isNewSession: boolean): void {
    for (const view of this.#all()) view.refresh({ isNewSession });
  }

  complete(): void {
    this.#completed = true;
    for (const view of this.#all()) view.complete();
  }

  #all(): View<unknown>[] {
    return [...this.#nodes.values(), ...this.#children.values()] as View<unknown>[];
  }

  #observe<T>(
    views: Map<string, View<T>>,
    path: string,
    read: (path: string) => Promise<T>,
    isSame: (a: T, b: T) => boolean,
  ): Observable<T | undefined> {
    return new Observable((subscriber) => {
      if (this.#completed) return subscriber.complete();
      let view = views.get(path);
      if (!view) {
        view = new View(this.reads, path, read, isSame, (ended) => {
          if (views.get(path) === ended) views.delete(path);
        });
        views.set(path, view);
      }
      return view.add(subscriber);
    });
  }
}

/** What is known of the reason to read again. */
interface RefreshHint {
  readonly isNewSession?: boolean;
  readonly isDeleted?: boolean;
}

/** The shared view of one path: reads again when told to, and emits what changed. */
class View<T> {
  readonly #subscribers = new Set<Subscriber<T | undefined>>();
  #known = false;
  #value: T | undefined;
  #reading = false;
  #stale = false;
  #mustSync = false;
  #isDeleted = false;

  constructor(
    private readonly reads: WatchedReads,
    private readonly path: string,
    private readonly read: (path: string) => Promise<T>,
    private readonly isSame: (a: T, b: T) => boolean,
    private readonly onEnd: (view: View<T>) => void,
  ) {}

  add(subscriber: Subscriber<T | undefined>): () => void {
    this.#subscribers.add(subscriber);
    if (this.#known) subscriber.next(this.#value);
    else if (!this.#reading) this.refresh();
    return () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.onEnd(this);
    };
  }

  refresh({ isNewSession = false, isDeleted = false }: RefreshHint = {}): void {
    if (isNewSession) this.#mustSync = true;
    this.#isDeleted = isDeleted;
    this.#stale = true;
    if (this.#reading) return;
    // News enough by itself: whoever waits for it need not wait for another round trip.
    if (isDeleted && this.#known) this.#emit(undefined);
    void this.#catchUp();
  }

  complete(): void {
    this.onEnd(this);
    for (const subscriber of [...this.#subscribers]) subscriber.complete();
  }

  async #catchUp(): Promise<void> {
    this.#reading = true;
    while (this.#stale && this.#subscribers.size > 0) {
      this.#stale = false;
      try {
        this.#emit(await this.#fetch());
      } catch (error) {
        if (!this.#survives(error)) break;
      }
    }
    this.#reading = false;
  }

  async #fetch(): Promise<T | undefined> {
    if (this.#mustSync) {
      this.#mustSync = false;
      await this.reads.sync(this.path).catch((error: unknown) => {
        this.#mustSync = true;
        throw error;
      });
    }
    if (this.#isDeleted) {
      // What was just deleted is looked for first: that alone leaves the watch for its return.
      this.#isDeleted = false;
      if ((await this.reads.exists(this.path)) === undefined) return undefined;
    }
    for (;;) {
      try {
        return await this.read(this.path);
      } catch (error) {
        if (registryErrorCode(error) !== 'NO_NODE') throw error;
        // A failed read left no watch; between it and this one the node may have come to be.
        if ((await this.reads.exists(this.path)) === undefined) return undefined;
      }
    }
  }

  #emit(value: T | undefined): void {
    if (this.#known && this.#isUnchanged(value)) return;
    this.#known = true;
    this.#value = value;
    for (const subscriber of [...this.#subscribers]) subscriber.next(value);
  }

  #isUnchanged(value: T | undefined): boolean {
    if (this.#value === undefined || value === undefined) return this.#value === value;
    return this.isSame(this.#value, value);
  }

  /** Connection trouble ends the read, not the view: the next connection refreshes it. */
  #survives(error: unknown): boolean {
    switch (registryErrorCode(error)) {
      case 'CONNECTION_LOST':
      case 'SESSION_LOST':
        // If the view reads again at once, that may be answered in a new session already.
        this.#mustSync = true;
        return true;
      case 'CLOSED':
        return false;
      default:
        this.onEnd(this);
        for (const subscriber of [...this.#subscribers]) subscriber.error(error);
        return false;
    }
  }
}

function isSameNode(a: NodeSnapshot, b: NodeSnapshot): boolean {
  return a.stat.createdId === b.stat.createdId && a.stat.version === b.stat.version;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}
