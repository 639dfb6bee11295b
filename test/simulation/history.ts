/** One thing that happened, at a moment of the one true time. */
export type Event = { readonly time: number } & (
  | {
      /** Asked whether it owns the item, or may at least still finish it, the instance said yes. */
      readonly kind: 'owns';
      readonly who: string;
      readonly item: number;
      readonly token: bigint;
      readonly total: number;
    }
  /** Once it had said so, and now it does not any more. */
  | {
      readonly kind: 'disowns';
      readonly who: string;
      readonly item: number;
      readonly token: bigint;
    }
  | { readonly kind: 'leads' | 'leads-no-more'; readonly who: string }
  | {
      readonly kind: 'acquired';
      readonly who: string;
      readonly item: number;
      readonly token: bigint;
      readonly total: number;
    }
  | {
      /** The signal of a worker fires. */
      readonly kind: 'told';
      readonly who: string;
      readonly item: number;
      readonly token: bigint;
      /** Whether the item still counts as owned. */
      readonly isOwned: boolean;
      /** Whether the worker will end within the drainTimeout. */
      readonly isInTime: boolean;
    }
  | {
      /** A worker has ended; or the store was told that its item is free. */
      readonly kind: 'ended' | 'freed';
      readonly who: string;
      readonly item: number;
      readonly token: bigint;
    }
  | {
      readonly kind: 'released';
      readonly who: string;
      readonly item: number;
      readonly token: bigint;
      readonly reason?: string;
      /** Whether the drainTimeout had passed, after which nothing is waited for. */
      readonly isLate?: boolean;
    }
  | { readonly kind: 'started' | 'completed'; readonly who: string }
  /** A process ends: at once, or in good order. */
  | { readonly kind: 'died' | 'left'; readonly who: string }
  /** Two answers of the same instance do not fit together. */
  | { readonly kind: 'contradiction'; readonly who: string; readonly text: string }
  | {
      readonly kind: 'leader';
      readonly who: string;
      readonly term: bigint;
    }
  | { readonly kind: 'leader-lost'; readonly who: string }
  | {
      /** A write to a resource that keeps the highest token of each item and refuses lower ones. */
      readonly kind: 'write';
      readonly who: string;
      readonly item: number;
      readonly token: bigint;
      readonly accepted: boolean;
    }
  | {
      /** In calm times something is asked of the group: this is what may come of it. */
      readonly kind: 'exercise';
      readonly name: string;
      /** Everyone who has to hear that a rebalance started, and completed. */
      readonly everyone: readonly string[];
      /** How many shards have to find a new worker, no more and no less; undefined: it depends. */
      readonly moves: number | undefined;
      /** What was foretold of who holds what in the end, by id; `-` is nobody. */
      readonly foretold?: readonly string[];
      /** How many shards may be drained at once. */
      readonly atOnce?: number;
      /** Those who must not be given anything. */
      readonly idle?: readonly string[];
    }
  | {
      readonly kind: 'exercised';
      /** Who holds what now, as in `foretold`. */
      readonly owners?: readonly string[];
      /** The same, by the name that a holder has in the history. */
      readonly holders?: readonly string[];
    }
  /** The wall clock of a machine was set to another time. */
  | { readonly kind: 'stepped' }
  /** For whoever reads the trace. */
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'stuck'; readonly text: string }
);

export type History = readonly Event[];

/** An event without its time, as whoever reports it knows it. */
export type Happening = Event extends infer E ? (E extends Event ? Omit<E, 'time'> : never) : never;

export function describeEvent(event: Event): string {
  const { time, kind, ...rest } = event;
  const who = 'who' in rest ? rest.who : '';
  const details = Object.entries(rest)
    .filter(([key]) => key !== 'who')
    .map(([key, value]) => (key === 'text' ? String(value) : `${key} ${String(value)}`))
    .join(', ');
  return `${time.toFixed(1).padStart(10)}  ${who.padEnd(6)} ${kind} ${details}`.trimEnd();
}
