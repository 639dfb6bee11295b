import type { StrategyInput } from '../../lib/interfaces/sharding-strategy.interface.js';

/** The name under which the group knows it. */
export const MOODY = 'moody';

/** Whether it does its work; which depends on its input alone, as that of any strategy must. */
export function isInTheMood(members: number, total: number): boolean {
  return (members + total) % 3 === 0;
}

/** A strategy of an application's own that is not always fit to be used. */
export function moody({ members, total, current }: StrategyInput): ArrayLike<number> {
  if (isInTheMood(members.length, total)) {
    return current.map((holder, item) => (holder < 0 ? item % members.length : holder));
  }
  if (total % 2 === 0) throw new Error('as drawn');
  return current.map(() => members.length);
}
