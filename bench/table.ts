/** One line of a benchmark: what was measured beside what it may be. */
export interface Figure {
  readonly name: string;
  readonly measured: number;
  readonly limit: number;
  readonly unit: string;
  /** How the limit comes about. */
  readonly basis: string;
}

export function isWithin({ measured, limit }: Figure): boolean {
  return measured <= limit;
}

export function printTable(figures: readonly Figure[]): void {
  const rows = [
    ['what', 'measured', 'limit', 'ratio', '', 'limit is'],
    ...figures.map((figure) => {
      const { name, measured, limit, unit, basis } = figure;
      const ratio = limit === 0 ? (measured === 0 ? '1.00' : '∞') : (measured / limit).toFixed(2);
      return [
        name,
        `${round(measured)} ${unit}`,
        `${round(limit)} ${unit}`,
        ratio,
        isWithin(figure) ? 'ok' : 'OVER',
        basis,
      ];
    }),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 1 || column === 2 || column === 3
        ? cell.padStart(widths[column]!)
        : cell.padEnd(widths[column]!),
    );
    console.log(cells.join('  ').trimEnd());
  }
}

function round(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
