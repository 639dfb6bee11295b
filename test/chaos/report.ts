import { textTable } from '../kit/text-table.js';
import { STALE_WRITE } from '../simulation/checker.js';
import type { ChaosProgress } from './chaos.js';
import { FAULTS } from './faults.js';
import type { Freeze } from './freeze-lane.js';
import { type FreezesProgress, gapsOf, rowOf } from './freezes.js';
import { OVERLAP, WEDGE } from './judge.js';

/** One line of what a run has come to. */
export function liveLine(progress: ChaosProgress): string {
  const { elapsed, faults, longestGap } = progress;
  return [
    clock(elapsed),
    `${faults.length} faults`,
    `${broken(progress, OVERLAP)} overlaps`,
    `${broken(progress, STALE_WRITE)} stale writes`,
    `longest gap ${Math.round(longestGap)} ms`,
  ].join(', ');
}

/** Everything that a run has to say for itself at the end. */
export function summary(progress: ChaosProgress, seed: number): string {
  const { faults, gaps, violations, elapsed, rounds, accepted, refused } = progress;
  // Also those that never happened: nothing was shown of them.
  const names = FAULTS.map(({ name }) => name).toSorted();
  const counted = names.map((name) => [
    name,
    String(faults.filter((fault) => fault.name === name).length),
    milliseconds(gaps.get(name)?.alone || undefined),
    milliseconds(gaps.get(name)?.amongOthers || undefined),
  ]);
  const lines = [
    ...textTable([['fault', 'times', 'longest gap alone', 'among others'], ...counted]),
    '',
    `seed                    ${seed}`,
    `faults                  ${faults.length} in ${clock(elapsed)} and ${rounds} rounds`,
    `longest gap             ${Math.round(progress.longestGap)} ms without an owner of some shard`,
    `longest settling        ${Math.round(progress.longestSettling)} ms after a round, the bound is ${progress.bound} ms`,
    `leases that ran out     ${progress.lapses}`,
    `writes to the store     ${accepted} accepted, ${refused} late ones refused`,
    `overlaps                ${broken(progress, OVERLAP)}`,
    `stale writes accepted   ${broken(progress, STALE_WRITE)}`,
    `wedges                  ${broken(progress, WEDGE)}`,
    `violations in all       ${violations.length}`,
    ...(progress.stranded > 0
      ? [`ZooKeeper stranded      ${progress.stranded} times, and was started again`]
      : []),
    ...progress.missing.map((name) => `not made here           ${name}: it takes Linux and cc`),
    ...violations.slice(0, 20).map(({ rule, text }) => `VIOLATED  ${rule}: ${text}`),
  ];
  return lines.join('\n');
}

/** A row for each session timeout and direction, and what follows from all of them. */
export function freezeSummary({ freezes, violations, elapsed }: FreezesProgress): string {
  const keys = [...new Set(freezes.map(rowOf))].toSorted(byNumber);
  const rows = keys.map((key) => {
    const own = freezes.filter((freeze) => rowOf(freeze) === key);
    const gaps = gapsOf(own);
    const { wait } = own[0]!;
    return [
      key,
      String(own.length),
      String(samplesOf(own)),
      String(gaps.length),
      ...[gaps[0], gaps[Math.floor(gaps.length / 2)], gaps.at(-1)].map(milliseconds),
      String(gaps.filter((gap) => gap < 0).length),
      `${wait} ms`,
      milliseconds(gaps[0] === undefined ? undefined : Math.max(0, wait - gaps[0])),
    ];
  });
  const gaps = gapsOf(freezes);
  const head = ['timeout, frozen', 'freezes', 'samples', 'moved', 'smallest', 'median', 'largest'];
  return [
    ...textTable([[...head, 'negative', 'D + margin', 'needed'], ...rows]),
    '',
    `freezes          ${freezes.length} in ${clock(elapsed)}, with ${samplesOf(freezes)} samples`,
    `smallest gap     ${milliseconds(gaps[0])}`,
    `negative gaps    ${gaps.filter((gap) => gap < 0).length}`,
    `violations       ${violations.length}`,
    '"needed" is D + margin less the smallest gap: with a shorter wait the two would have met.',
    ...violations.slice(0, 20).map(({ rule, text }) => `VIOLATED  ${rule}: ${text}`),
  ].join('\n');
}

export function freezeLine({ freezes, violations, elapsed }: FreezesProgress): string {
  const [smallest] = gapsOf(freezes);
  return [
    clock(elapsed),
    `${freezes.length} freezes`,
    `${samplesOf(freezes)} samples`,
    `smallest gap ${milliseconds(smallest)}`,
    `${violations.length} violations`,
  ].join(', ');
}

const samplesOf = (freezes: readonly Freeze[]): number =>
  freezes.reduce((sum, { gaps }) => sum + gaps.length, 0);

const byNumber = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : `${Math.round(value)} ms`;
}

function broken({ violations }: ChaosProgress, rule: string): number {
  return violations.filter((violation) => violation.rule === rule).length;
}

function clock(elapsed: number): string {
  const seconds = Math.floor(elapsed / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
