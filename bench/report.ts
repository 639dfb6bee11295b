import type { Figure } from './table.js';

/** What happens to a group of a size with a number of shards, and what it costs. */
export interface GrowthRow {
  readonly event: string;
  readonly instances: number;
  readonly shards: number;
  readonly milliseconds: number;
  /** The time in units of one write and one read round trip of the same run. */
  readonly roundTrips: number;
  readonly requests: number;
  readonly kilobytes: number;
  readonly moved: number;
  readonly fewestMoves: number;
}

/** All that a run has measured so far. */
export class Report {
  readonly figures: Figure[] = [];
  readonly growth: GrowthRow[] = [];

  constructor(
    readonly connect: string,
    readonly rounds: number,
  ) {}

  add(...figures: Figure[]): void {
    this.figures.push(...figures);
  }

  /** Says what is being measured now. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }
}
