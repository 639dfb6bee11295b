import { defer, map, type Observable, scan, startWith, Subject } from 'rxjs';
import type { ShardAssignment } from '../interfaces/sharding-values.interface.js';
import type { Shards } from './shards.js';

/** Tokens by item that print as strings, since JSON knows no bigint. */
class TokenMap extends Map<number, bigint> {
  toJSON(): Record<string, string> {
    return Object.fromEntries([...this].map(([item, token]) => [item, String(token)]));
  }
}

type Snapshot = Pick<ShardAssignment, 'epoch' | 'total' | 'items' | 'tokens'>;

const NONE: Snapshot = { epoch: 0, total: 0, items: [], tokens: new TokenMap() };

/** What this instance holds, as a value, as a stream of changes, and since the last rebalance. */
export class AssignmentStream {
  readonly #changed = new Subject<Snapshot>();
  #current: Snapshot = NONE;
  #lastCompleted: Snapshot = NONE;
  #revision = -1;

  constructor(private readonly shards: Shards) {}

  get current(): ShardAssignment {
    return difference(NONE, this.#current);
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
    const entries = [...this.shards.held].sort(([a], [b]) => a - b);
    const items = entries.map(([item]) => item);
    const tokens = new TokenMap(entries.map(([item, { token }]) => [item, token]));
    const before = this.#current;
    this.#current = { epoch, total, items, tokens };
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

function isSame(a: Snapshot, b: Snapshot): boolean {
  return (
    a.total === b.total &&
    a.items.length === b.items.length &&
    a.items.every((item) => a.tokens.get(item) === b.tokens.get(item))
  );
}

function difference(before: Snapshot, now: Snapshot): ShardAssignment {
  return {
    ...now,
    added: now.items.filter((item) => before.tokens.get(item) !== now.tokens.get(item)),
    removed: before.items.filter((item) => before.tokens.get(item) !== now.tokens.get(item)),
  };
}
