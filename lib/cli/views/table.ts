import cliui from 'cliui';
import type { Paint, Style } from '../terminal.js';
import { fold, plain } from './text.js';

export interface Column {
  readonly title: string;
  /** Where room is short it is wrapped, down to this width before others lose any. @default as wide as it is */
  readonly least?: number;
  readonly align?: 'right';
}

/** A cell may have a colour. */
export type Cell = string | { readonly text: string; readonly style: Style };

export interface Look {
  readonly width: number;
  readonly paint: Paint;
}

const GAP = 2;

/**
 * The lines of a table, none longer than the width. Columns that are empty throughout are left out; what
 * is too long for its column is wrapped, never cut, for people have to copy it.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width, paint }: Look,
): string[] {
  const used = columns.flatMap((_, index) => (rows.some((row) => textOf(row[index])) ? index : []));
  const widths = fit(
    used.map((index) => lengthOf(columns[index]!, rows, index)),
    used.map((index) => columns[index]!),
    width,
  );
  const ui = cliui({ width, wrap: true });
  const line = (cells: readonly Cell[]): void => {
    ui.div(
      ...used.map((index, place) => {
        const { align } = columns[index]!;
        const isLast = place === used.length - 1;
        const room = widths[place]!;
        const shown = fold(textOf(cells[index]), room);
        return {
          text: painted(cells[index], shown, paint),
          width: room + (isLast ? 0 : GAP),
          padding: [0, isLast ? 0 : GAP, 0, 0],
          ...(align ? { align } : {}),
        };
      }),
    );
  };
  line(columns.map(({ title }) => ({ text: title, style: 'dim' as const })));
  for (const row of rows) line(row);
  return ui
    .toString()
    .split('\n')
    .map((text) => text.trimEnd());
}

/** A paragraph, wrapped and indented. */
export function paragraph(text: string, indent: number, { width }: Look): string[] {
  const ui = cliui({ width, wrap: true });
  ui.div({ text: fold(text, width - indent), width, padding: [0, 0, 0, indent] });
  return ui
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

function lengthOf({ title }: Column, rows: readonly (readonly Cell[])[], index: number): number {
  return rows.reduce((most, row) => Math.max(most, textOf(row[index]).length), title.length);
}

/** Takes what is too much from the widest that have more than their least, then from the widest. */
function fit(natural: readonly number[], columns: readonly Column[], width: number): number[] {
  const widths = [...natural];
  const excess = (): number =>
    widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1) - width;
  while (excess() > 0) {
    const index =
      widest(widths, (at) => widths[at]! > (columns[at]!.least ?? Infinity)) ??
      widest(widths, () => true);
    if (index === undefined || widths[index]! <= 1) break;
    widths[index]! -= 1;
  }
  return widths;
}

function widest(
  widths: readonly number[],
  isMeant: (index: number) => boolean,
): number | undefined {
  const meant = widths.flatMap((_, index) => (isMeant(index) ? index : []));
  return meant.toSorted((a, b) => widths[b]! - widths[a]!)[0];
}

const textOf = (cell: Cell | undefined): string =>
  plain(typeof cell === 'string' ? cell : (cell?.text ?? ''));

function painted(cell: Cell | undefined, text: string, paint: Paint): string {
  return typeof cell === 'object' && text !== '' ? paint(cell.style, text) : text;
}
