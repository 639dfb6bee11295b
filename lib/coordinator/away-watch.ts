import type { Clock, Timer } from '../registry/environment.js';
import type { AwayMember } from './plan.js';

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

  /** Who is away by the present plan; whoever is back is not waited for, though its items may be lent. */
  attend(away: readonly AwayMember[], isBack: (id: string) => boolean): void {
    const awaited = new Map(away.filter(({ id }) => !isBack(id)).map((gone) => [gone.id, gone]));
    for (const [id, timer] of this.#windows) {
      if (awaited.has(id)) continue;
      timer.cancel();
      this.#windows.delete(id);
    }
    for (const id of this.#overstayed) if (!awaited.has(id)) this.#overstayed.delete(id);
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
