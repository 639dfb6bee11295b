/**
 * The figures as one picture, in SVG: no drawing library is worth its weight for bars and lines. Its
 * ground is white, so that it can be read on a page of any colour.
 */
import type { GrowthRow } from './report.js';
import { type Figure, isWithin } from './table.js';

const WIDTH = 900;
const MARGIN = 20;
const FONT = 'font-family="system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"';
const BLUE = '#2563eb';
const RED = '#dc2626';
const INK = '#1f2937';
const GREY = '#6b7280';
const PALE = '#e5e7eb';

export function chartOf(figures: readonly Figure[], growth: readonly GrowthRow[]): string {
  const bars = barPanel(figures);
  const panels = PANELS.map((panel, index) =>
    linePanel(growth, panel, (index * WIDTH) / 2, bars.height),
  );
  const height = bars.height + (growth.length > 0 ? LINES_HEIGHT : 0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" ${FONT}>`,
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff"/>`,
    bars.svg,
    ...panels,
    '</svg>',
    '',
  ].join('\n');
}

interface Group {
  readonly title: string;
  /** How the names of its figures end, which need not be said again; all others if there is none. */
  readonly ending?: string;
}

const GROUPS: readonly Group[] = [
  { title: 'ZooKeeper 4 ms away, as between machines', ending: ', 4 ms away' },
  {
    title: 'Loopback: mostly the CPU of one machine',
    ending: ', loopback',
  },
  { title: 'Everything else' },
];
const ROW = 21;
const BARS_LEFT = 375;
const BARS_RIGHT = 735;
/** What is farther over its limit than that has a bar no longer than this. */
const MOST = 2.5;

/** Each figure as a share of its limit; the line is the limit. Moves are exact or wrong: no bars. */
function barPanel(all: readonly Figure[]): { svg: string; height: number } {
  const figures = all.filter(
    ({ name, limit, unit }) => limit && unit !== 'moves' && !name.startsWith(' '),
  );
  const most = Math.min(MOST, Math.max(1.1, ...figures.map(shareOf)));
  const scale = (BARS_RIGHT - BARS_LEFT) / most;
  const parts: string[] = [];
  let y = 76;
  const top = y;
  for (const { title, ending } of GROUPS) {
    const members = figures.filter(({ name }) => endingOf(name) === ending);
    if (members.length === 0) continue;
    parts.push(text(MARGIN, y + 15, title, { size: 13, weight: 600 }));
    y += ROW + 2;
    for (const figure of members) {
      parts.push(bar(figure, figure.name.slice(0, -(ending?.length ?? 0) || undefined), y, scale));
      y += ROW;
    }
    y += 10;
  }
  const limit = BARS_LEFT + scale;
  return {
    height: y + 10,
    svg: [
      text(MARGIN, 34, 'What it costs, as a share of what it may cost', { size: 18, weight: 600 }),
      text(limit, 60, 'limit', { anchor: 'middle', size: 13, weight: 600 }),
      text(WIDTH - MARGIN, 60, 'measured of limit', { anchor: 'end', colour: GREY }),
      ...parts,
      `<path d="M${limit.toFixed(1)} ${top - 10}V${y - 8}" stroke="${INK}" stroke-width="1.5" stroke-dasharray="5 4"/>`,
    ].join('\n'),
  };
}

function bar(figure: Figure, label: string, y: number, scale: number): string {
  const { measured, limit, unit } = figure;
  const isGood = isWithin(figure);
  const length = Math.max(1, Math.min(shareOf(figure), MOST) * scale);
  return [
    text(BARS_LEFT - 10, y + 14, label, { anchor: 'end' }),
    `<rect x="${BARS_LEFT}" y="${y + 3}" width="${length.toFixed(1)}" height="15" rx="2" fill="${isGood ? BLUE : RED}"/>`,
    text(WIDTH - MARGIN, y + 14, `${shortened(measured)} of ${shortened(limit!)} ${unit}`, {
      anchor: 'end',
      colour: isGood ? INK : RED,
      weight: isGood ? 400 : 600,
    }),
  ].join('\n');
}

const shareOf = ({ measured, limit }: Figure): number => measured / limit!;
const endingOf = (name: string): string | undefined =>
  GROUPS.find(({ ending }) => ending && name.endsWith(ending))?.ending;

interface Panel {
  readonly title: string;
  readonly along: 'instances' | 'shards';
  /** What is the same for all points. */
  readonly fixed: number;
}

const PANELS: readonly Panel[] = [
  { title: 'Requests to ZooKeeper, 1,000 shards', along: 'instances', fixed: 1_000 },
  { title: 'Requests to ZooKeeper, 4 instances', along: 'shards', fixed: 4 },
];
const LIMIT = { name: 'limit', colour: GREY, dash: '5 4' };
const COLOURS: Record<string, string> = {
  join: BLUE,
  'graceful leave': '#b45309',
  'hand-over': '#047857',
  'total changed': '#be185d',
  crash: '#7c3aed',
};
const LINES_HEIGHT = 330;
const PLOT_HEIGHT = 220;
const PLOT_WIDTH = WIDTH / 2 - 190;

interface Line {
  readonly name: string;
  readonly colour: string;
  readonly dash?: string;
  readonly values: readonly number[];
}

function linePanel(growth: readonly GrowthRow[], panel: Panel, x: number, y: number): string {
  const { along } = panel;
  const rows = growth.filter(
    (row) => row[along === 'instances' ? 'shards' : 'instances'] === panel.fixed,
  );
  if (rows.length === 0) return '';
  const stops = [...new Set(rows.map((row) => row[along]))].sort((a, b) => a - b);
  const lines: Line[] = Object.entries(COLOURS).map(([name, colour]) => ({
    name,
    colour,
    values: rows.filter(({ event }) => event === name).map(({ requests }) => requests),
  }));
  const limits = rows.filter(({ event }) => event === 'join').map((row) => row.requestLimit);
  const most = Math.max(...limits, ...lines.flatMap(({ values }) => values));
  const top = y + 50;
  const left = x + MARGIN + 40;
  const atX = (index: number): number =>
    left + (index / Math.max(1, stops.length - 1)) * PLOT_WIDTH;
  const atY = (value: number): number => top + PLOT_HEIGHT * (1 - value / most);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const line = atY(share * most);
    return [
      `<path d="M${left} ${line.toFixed(1)}h${PLOT_WIDTH}" stroke="${PALE}"/>`,
      text(left - 8, line + 4, shortened(share * most), { anchor: 'end', colour: GREY }),
    ].join('\n');
  });
  const below = top + PLOT_HEIGHT;
  const ticks = stops.map((stop, index) =>
    text(atX(index), below + 18, stop.toLocaleString('en'), { anchor: 'middle', colour: GREY }),
  );
  const drawn = [...lines, { ...LIMIT, values: limits }];
  const ends = spreadOut(drawn.map(({ values }) => atY(values.at(-1)!)));
  return [
    text(x + MARGIN, y + 26, panel.title, { size: 15, weight: 600 }),
    ...grid,
    ...ticks,
    text(left + PLOT_WIDTH / 2, below + 36, along, { anchor: 'middle', colour: GREY }),
    ...drawn.map(({ name, colour, dash = 'none', values }, index) => {
      const points = values.map((value, at) => `${atX(at).toFixed(1)},${atY(value).toFixed(1)}`);
      return [
        `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-dasharray="${dash}"/>`,
        text(left + PLOT_WIDTH + 10, ends[index]! + 4, name, { colour, weight: 600 }),
      ].join('\n');
    }),
  ].join('\n');
}

/** Labels that would lie on each other move apart, upwards: there is room above the lowest one. */
function spreadOut(positions: readonly number[], distance = 16): number[] {
  const order = positions.map((_, index) => index).sort((a, b) => positions[b]! - positions[a]!);
  const result = [...positions];
  order.forEach((index, rank) => {
    if (rank === 0) return;
    result[index] = Math.min(result[index]!, result[order[rank - 1]!]! - distance);
  });
  return result;
}

interface TextStyle {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly weight?: number;
  readonly colour?: string;
}

function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { anchor = 'start', size = 13, weight = 400, colour = INK } = style;
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}" fill="${colour}">${escaped}</text>`;
}

/** Three digits are enough to look at. */
function shortened(value: number): string {
  return value >= 10 ? Math.round(value).toLocaleString('en') : String(Number(value.toFixed(1)));
}
