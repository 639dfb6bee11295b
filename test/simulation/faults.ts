import type { SeededRandom } from '../kit/seeded-random.js';

const KINDS = [
  'join',
  'join-losing-answer',
  'leave',
  'leave-and-return',
  'kill',
  'kill',
  'kill-leader-at-write',
  'kill-leader-at-write',
  'pause',
  'pause',
  'sleep',
  'cut',
  'freeze',
  'freeze',
  'delay',
  'lose-answer',
  'lose-answer',
  'expire',
  'expire-unheard',
  'forsake',
  'stall-server',
  'stall-server',
  'lag-server',
  'stop-server',
  'step-clock',
  'step-clocks',
  'drain',
  'total',
  'total-mode',
  'total-amid-expiry',
  'configure',
  'configure',
  'configure-amid-kill',
  'reshard',
  'delete-plan',
  'depose-and-delete-plan',
  'garbage-plan',
  'delete-instance',
  'garbage-instance',
  'delete-lease',
  'delete-latch',
  'depose-deaf-leaders',
] as const;

export type FaultKind = (typeof KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds of true time. */
  readonly at: number;
  readonly duration?: number;
  /** From 0 to 1: which victim, and whatever else the fault has to choose. */
  readonly choice: number;
}

/** Draws what goes wrong, and when. */
export function drawSchedule(
  random: SeededRandom,
  { sessionTimeout }: { readonly sessionTimeout: number },
): Fault[] {
  const count = random.pick([1, 3, 6, 12]);
  const span = 1_000 + random.below(count * 1_500);
  // Few kinds at a time, so that those drawn meet each other.
  const kinds = Array.from({ length: 1 + random.below(6) }, () => random.pick(KINDS));
  return Array.from({ length: count }, () => ({
    kind: random.pick(kinds),
    at: 500 + random.below(span),
    duration: random.below(sessionTimeout * random.pick([0.3, 1, 2.5])),
    choice: random.fraction(),
  })).toSorted((a, b) => a.at - b.at);
}
