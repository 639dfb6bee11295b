import type { Audit } from './audit.js';
import type { Kind, Outcome } from './scenario.js';
import { inSeconds } from './show.js';
import { FINISH } from './demo-app.js';
import { afterCrash, type Stage } from './stage.js';

export interface Verdict {
  readonly isGood: boolean;
  readonly lines: readonly string[];
}

/** What is left to say at the end, and whether all was well: everything settled and nothing overlapped. */
export function judge(
  outcomes: readonly Outcome[],
  audit: Audit,
  { timing }: Stage,
  seconds: number,
): Verdict {
  const { overlaps } = audit;
  const unsettled = outcomes.filter(({ hasSettled }) => !hasSettled);
  const sum = (key: 'moves' | 'fewest') => outcomes.reduce((total, one) => total + one[key], 0);
  const longest = (kind: Kind) =>
    Math.max(0, ...outcomes.filter((one) => one.kind === kind).map((one) => one.longestGap));
  const { session, lease, margin, beyond } = timing;
  const limit = `session ${session / 1_000} s + lease ${lease / 1_000} s + margin ${margin / 1_000} s = ${afterCrash(timing) / 1_000} s${beyond}`;
  const questions = audit.questions.toLocaleString('en');
  return {
    isGood: overlaps.length === 0 && unsettled.length === 0,
    lines: [
      `changes         ${outcomes.length}, settled after ${unsettled.length === 0 ? 'each' : `all but ${unsettled.length}`}`,
      `moves           ${sum('moves')}, the fewest possible ${sum('fewest')}`,
      `overlaps        ${overlaps.length}: instances were asked ${questions} times what they own,`,
      `                at most ${audit.longestPause.toFixed(0)} ms apart, on one clock`,
      ...overlaps.map(
        ({ item, holders, milliseconds }) =>
          `                shard ${item}: ${holders.join(' and ')}, ${milliseconds.toFixed(1)} ms`,
      ),
      'longest time that a shard had no owner',
      `  in good order ${inSeconds(longest('in good order'))}, of which its worker took ${inSeconds(FINISH)} to finish`,
      `  after a crash ${inSeconds(longest('after a crash'))}; expected up to`,
      `                ${limit}`,
      `took            ${seconds.toFixed(1)} s`,
    ],
  };
}
