/** One line of a benchmark: what was measured, beside what it may be if there is a limit. */
export interface Figure {
  readonly name: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit?: number;
  /** How the limit comes about, or what else there is to say. */
  readonly basis: string;
}

export function isWithin({ measured, limit }: Figure): boolean {
  return limit === undefined || measured <= limit;
}

export function figureTable(figures: readonly Figure[]): string {
  return alignedTable([
    ['what', 'measured', 'limit', 'ratio', '', 'limit is'],
    ...figures.map((figure) => {
      const { name, measured, unit, limit, basis } = figure;
      const value = withUnit(measured, unit);
      if (limit === undefined) return [name, value, '', '', '', basis];
      const ratio = limit === 0 ? (measured === 0 ? '1.00' : '∞') : (measured / limit).toFixed(2);
      return [name, value, withUnit(limit, unit), ratio, verdict(isWithin(figure)), basis];
    }),
  ]);
}

export function verdict(isGood: boolean): string {
  return isGood ? 'ok' : 'OVER';
}

export function withUnit(value: number, unit: string): string {
  return `${rounded(value)} ${unit}`;
}

/** The first row is the head; columns of numbers are aligned to the right. */
export function alignedTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const isNumeric = widths.map((_, column) =>
    rows.slice(1).every((row) => /^[-\d.∞]*( \w+)?\s*$/.test(row[column]!)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function rounded(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
}
