import type { Figure } from './table.js';

/** What happens to a group of a size with a number of shards, and what it costs. */
export interface GrowthRow {
  readonly event: string;
  readonly instances: number;
  readonly shards: number;
  readonly milliseconds: number;
  /** What the protocol may take; here it is not judged, see `benchGrowth`. */
  readonly limit: number;
  readonly basis: string;
  /** Without the renewals of leases, which go on in any case. */
  readonly requests: number;
  readonly requestLimit: number;
  readonly kilobytes: number;
  readonly moved: number;
  readonly fewestMoves: number;
}

/** Fewer moves than possible would mean that they were not counted. */
export function isAsFewAsCanBe(row: GrowthRow): boolean {
  return row.requests <= row.requestLimit && row.moved === row.fewestMoves;
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
