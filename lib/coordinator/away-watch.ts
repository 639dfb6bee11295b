import type { Clock, Timer } from '../registry/environment.js';
import type { MemberRecord } from './member-record.js';
import type { Plan } from './plan.js';

/** Counts how long the group has waited for each instance that is away. A new leader counts anew. */
export class AwayWatch {
  readonly #windows = new Map<string, Timer>();
  readonly #overstayed = new Set<string>();

  constructor(
    private readonly clock: Clock,
    private readonly onOver: () => void,
  ) {}

  /** Those who have been waited for in vain. */
  get overstayed(): ReadonlySet<string> {
    return this.#overstayed;
  }

  /**
   * Who is away by the present plan; whoever is back is not waited for, though its items may be lent.
   * Waiting in vain is remembered for as long as the plan names a life of theirs that is over: until that
   * has been waited out, the plan would take it as having gone just now.
   */
  attend(
    { away, members }: Pick<Plan, 'away' | 'members'>,
    records: readonly MemberRecord[],
  ): void {
    const present = records.filter(({ leaving }) => !leaving);
    const back = new Set(present.map(({ id }) => id));
    const live = new Set(present.map(({ incarnation }) => incarnation));
    const awaited = new Map(away.filter(({ id }) => !back.has(id)).map((gone) => [gone.id, gone]));
    const over = new Set(
      members.filter(({ incarnation }) => !live.has(incarnation)).map(({ id }) => id),
    );
    for (const [id, timer] of this.#windows) {
      if (awaited.has(id)) continue;
      timer.cancel();
      this.#windows.delete(id);
    }
    for (const id of this.#overstayed) {
      if (!awaited.has(id) && !over.has(id)) this.#overstayed.delete(id);
    }
    for (const { id, window } of awaited.values()) {
      if (this.#windows.has(id) || this.#overstayed.has(id)) continue;
      const timer = this.clock.setTimer(() => {
        this.#windows.delete(id);
        this.#overstayed.add(id);
        this.onOver();
      }, window);
      this.#windows.set(id, timer);
    }
  }

  close(): void {
    for (const timer of this.#windows.values()) timer.cancel();
  }
}
