import type { ChaosProgress } from './chaos.js';
import type { FreezeSample, FreezesProgress } from './freezes.js';
import { OVERLAP, STALE_WRITE, WEDGE } from './judge.js';

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
  const names = [...new Set(faults.map(({ name }) => name))].toSorted();
  const counted = names.map((name) => [
    name,
    String(faults.filter((fault) => fault.name === name).length),
    milliseconds(gaps.get(name)?.alone || undefined),
    milliseconds(gaps.get(name)?.amongOthers || undefined),
  ]);
  const lines = [
    ...columns([['fault', 'times', 'longest gap alone', 'among others'], ...counted]),
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
export function freezeSummary({ samples, freezes, violations, elapsed }: FreezesProgress): string {
  const keys = [...new Set(samples.map(keyOf))];
  const rows = keys.map((key) => {
    const own = samples.filter((sample) => keyOf(sample) === key);
    const gaps = gapsOf(own);
    const { timeout, manner, wait } = own[0]!;
    return [
      `${timeout / 1_000} s`,
      manner,
      String(own.length),
      String(gaps.length),
      ...[gaps[0], gaps[Math.floor(gaps.length / 2)], gaps.at(-1)].map(milliseconds),
      String(gaps.filter((gap) => gap < 0).length),
      `${wait} ms`,
      milliseconds(gaps[0] === undefined ? undefined : Math.max(0, wait - gaps[0])),
    ];
  });
  const gaps = gapsOf(samples);
  const head = ['timeout', 'frozen', 'samples', 'moved', 'smallest', 'median', 'largest'];
  return [
    ...columns([[...head, 'negative', 'D + margin', 'needed'], ...rows]),
    '',
    `samples          ${samples.length}, of ${freezes} freezes in ${clock(elapsed)}`,
    `smallest gap     ${milliseconds(gaps[0])}`,
    `negative gaps    ${gaps.filter((gap) => gap < 0).length}`,
    `violations       ${violations.length}`,
    '"needed" is D + margin less the smallest gap: with a shorter wait the two would have met.',
    ...violations.slice(0, 20).map(({ rule, text }) => `VIOLATED  ${rule}: ${text}`),
  ].join('\n');
}

export function freezeLine({ samples, freezes, violations, elapsed }: FreezesProgress): string {
  const [smallest] = gapsOf(samples);
  return [
    clock(elapsed),
    `${freezes} freezes`,
    `${samples.length} samples`,
    `smallest gap ${milliseconds(smallest)}`,
    `${violations.length} violations`,
  ].join(', ');
}

const keyOf = ({ timeout, manner }: FreezeSample): string => `${timeout} ${manner}`;

function gapsOf(samples: readonly FreezeSample[]): number[] {
  return samples.flatMap(({ gap }) => (gap === undefined ? [] : [gap])).toSorted((a, b) => a - b);
}

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

/** The first column to the left, numbers to the right. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd(),
  );
}
