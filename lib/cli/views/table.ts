import cliui from 'cliui';
import type { Paint, Style } from '../terminal.js';
import { plain, shorten } from './text.js';

export interface Column {
  readonly title: string;
  /** What is longer loses its middle. Left out: it is wrapped, and gets what the others leave. */
  readonly most?: number;
  readonly align?: 'right';
  /** Where room is short it gives way before what people have to copy. */
  readonly isMinor?: boolean;
}

/** A cell may have a colour. */
export type Cell = string | { readonly text: string; readonly style: Style };

export interface Look {
  readonly width: number;
  readonly paint: Paint;
}

const GAP = 2;
/** A column of text is no use below this. */
const NARROWEST = 12;
/** Enough to see that there is something. */
const MINOR = 6;

/** The lines of a table, none longer than the width. Columns that are empty throughout are left out. */
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
        const { most, align } = columns[index]!;
        const isLast = place === used.length - 1;
        const room = widths[place]!;
        const text = textOf(cells[index]);
        const shown = most === undefined ? text : shorten(text, Math.min(most, room));
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
  ui.div({ text, width, padding: [0, 0, 0, indent] });
  return ui
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

function lengthOf(
  { title, most = Infinity }: Column,
  rows: readonly (readonly Cell[])[],
  index: number,
): number {
  const lengths = rows.map((row) => Math.min(textOf(row[index]).length, most));
  return Math.max(title.length, ...lengths);
}

/** Takes what is too much from columns that can be wrapped, then minor ones, then the widest. */
function fit(natural: readonly number[], columns: readonly Column[], width: number): number[] {
  const widths = [...natural];
  const excess = (): number =>
    widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1) - width;
  while (excess() > 0) {
    const index =
      widest(widths, (at) => columns[at]!.most === undefined && widths[at]! > NARROWEST) ??
      widest(widths, (at) => columns[at]!.isMinor === true && widths[at]! > MINOR) ??
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
