import { defer, map, type Observable, scan, startWith, Subject } from 'rxjs';
import type { ShardAssignment } from '../interfaces/sharding-values.interface.js';
import type { Shards } from './shards.js';

/** Tokens by item that print as strings, since JSON knows no bigint. */
class TokenMap extends Map<number, bigint> {
  toJSON(): Record<string, string> {
    return Object.fromEntries([...this].map(([item, token]) => [item, String(token)]));
  }
}

/** What is held at one point: items in order, and the epoch that granted each. */
interface Snapshot {
  readonly epoch: number;
  readonly total: number;
  readonly items: readonly number[];
  readonly grants: Float64Array;
}

const NONE: Snapshot = { epoch: 0, total: 0, items: [], grants: new Float64Array() };

/** What this instance holds, as a value, as a stream of changes, and since the last rebalance. */
export class AssignmentStream {
  readonly #changed = new Subject<Snapshot>();
  #current: Snapshot = NONE;
  #lastCompleted: Snapshot = NONE;
  #revision = -1;
  /** The current one as it was last handed out. */
  #described: { readonly snapshot: Snapshot; readonly assignment: ShardAssignment } | undefined;

  constructor(private readonly shards: Shards) {}

  /** In order; asked in every loop of the application. */
  get items(): readonly number[] {
    return this.#current.items;
  }

  get current(): ShardAssignment {
    const snapshot = this.#current;
    if (this.#described?.snapshot !== snapshot) {
      this.#described = { snapshot, assignment: difference(NONE, snapshot) };
    }
    return this.#described.assignment;
  }

  /** The current value first, with everything as added; then every change. */
  get changes$(): Observable<ShardAssignment> {
    return defer(() =>
      this.#changed.pipe(
        startWith(this.#current),
        scan(({ snapshot }, next) => ({ snapshot: next, change: difference(snapshot, next) }), {
          snapshot: NONE,
          change: difference(NONE, NONE),
        }),
        map(({ change }) => change),
      ),
    );
  }

  /** Takes stock; emits if what is held has changed. */
  update(epoch: number, total: number): void {
    const { revision } = this.shards;
    if (revision === this.#revision && total === this.#current.total) {
      if (epoch !== this.#current.epoch) this.#current = { ...this.#current, epoch };
      return;
    }
    this.#revision = revision;
    const items = inOrder(this.shards.held.keys());
    const grants = new Float64Array(items.length);
    for (let index = 0; index < items.length; index++) {
      grants[index] = this.shards.grantOf(items[index]!);
    }
    const before = this.#current;
    this.#current = { epoch, total, items, grants };
    if (!isSame(before, this.#current)) this.#changed.next(this.#current);
  }

  /** What has changed since the last time that this was asked, for @OnShardingCompleted. */
  sinceLastCompleted(): ShardAssignment {
    const change = difference(this.#lastCompleted, this.#current);
    this.#lastCompleted = this.#current;
    return change;
  }

  complete(): void {
    this.#changed.complete();
  }
}

/** Mostly they are in order already: the plan grants them so. */
function inOrder(keys: Iterable<number>): readonly number[] {
  const items: number[] = [];
  let isSorted = true;
  let last = -1;
  for (const item of keys) {
    if (item < last) isSorted = false;
    last = item;
    items.push(item);
  }
  // Numbers sort much faster in an array that can hold nothing else.
  return isSorted ? items : Array.from(Float64Array.from(items).sort());
}

function isSame(a: Snapshot, b: Snapshot): boolean {
  return (
    a.total === b.total &&
    a.items.length === b.items.length &&
    a.items.every((item, index) => item === b.items[index] && a.grants[index] === b.grants[index])
  );
}

function difference(before: Snapshot, now: Snapshot): ShardAssignment {
  const { epoch, total, items } = now;
  let tokens: TokenMap | undefined;
  return {
    epoch,
    total,
    items,
    added: notIn(before, now),
    removed: notIn(now, before),
    // Made when somebody looks at it: few do, and there may be a hundred thousand.
    get tokens() {
      tokens ??= new TokenMap(items.map((item, index) => [item, BigInt(now.grants[index]!)]));
      return tokens;
    },
  };
}

/** The items of the second that the first does not have by the same grant; both are in order. */
function notIn(first: Snapshot, second: Snapshot): number[] {
  const found: number[] = [];
  let place = 0;
  for (let index = 0; index < second.items.length; index++) {
    const item = second.items[index]!;
    while (place < first.items.length && first.items[place]! < item) place += 1;
    const isKept = first.items[place] === item && first.grants[place] === second.grants[index];
    if (!isKept) found.push(item);
  }
  return found;
}
