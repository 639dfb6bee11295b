type Alignment = 'left' | 'right';

/** The first row is the head. Without a word of it the first column is to the left, the others to the right. */
export function textTable(
  rows: readonly (readonly string[])[],
  alignment: (column: number) => Alignment = (column) => (column === 0 ? 'left' : 'right'),
): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const aligned = (cell: string, column: number): string =>
    alignment(column) === 'left' ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  return rows.map((row) => row.map(aligned).join('  ').trimEnd());
}
