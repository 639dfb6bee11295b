/** The figures as one picture, in SVG: no drawing library is worth its weight for bars and lines. */
import type { GrowthRow } from './report.js';
import type { Figure } from './table.js';

const WIDTH = 960;
const FONT = 'font-family="system-ui, sans-serif"';
const COLOURS = ['#2563eb', '#d97706', '#059669', '#dc2626', '#7c3aed'];
const INK = '#1f2937';
const FAINT = '#9ca3af';

export function chartOf(figures: readonly Figure[], growth: readonly GrowthRow[]): string {
  const limited = figures.filter(({ limit }) => limit !== undefined && limit > 0);
  const bars = barPanel(limited);
  const panels = PANELS.map((panel, index) =>
    linePanel(growth, panel, (index % 2) * (WIDTH / 2), bars.height + Math.floor(index / 2) * 300),
  );
  const height = bars.height + Math.ceil(PANELS.length / 2) * 300 + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" ${FONT} font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    bars.svg,
    ...panels,
    '</svg>',
    '',
  ].join('\n');
}

/** Each figure as a share of its limit; the line is the limit. */
function barPanel(figures: readonly Figure[]): { svg: string; height: number } {
  const left = 330;
  const scale = (WIDTH - left - 90) / 1.25;
  const top = 46;
  const bars = figures.map(({ name, measured, limit, unit }, index) => {
    const y = top + index * 20;
    const ratio = measured / limit!;
    const colour = ratio <= 1 ? COLOURS[0] : COLOURS[3];
    const length = Math.min(ratio, 1.25) * scale;
    return [
      text(left - 8, y + 12, name.trim(), { anchor: 'end' }),
      `<rect x="${left}" y="${y + 2}" width="${length.toFixed(1)}" height="13" fill="${colour}"/>`,
      text(left + length + 6, y + 12, `${shortened(measured)} ${unit}`.trim(), { colour: INK }),
    ].join('\n');
  });
  const bottom = top + figures.length * 20;
  const limitX = left + scale;
  return {
    height: bottom + 30,
    svg: [
      text(16, 24, 'Measured, as a share of its limit', { size: 16 }),
      ...bars,
      `<line x1="${limitX}" x2="${limitX}" y1="${top - 6}" y2="${bottom}" stroke="${INK}" stroke-dasharray="4 3"/>`,
      text(limitX, top - 10, 'limit', { anchor: 'middle' }),
    ].join('\n'),
  };
}

interface Panel {
  readonly title: string;
  readonly events: readonly string[];
  readonly along: 'instances' | 'shards';
  /** What is the same for all points. */
  readonly fixed: number;
  readonly value: (row: GrowthRow) => number;
  readonly unit: string;
}

const ORDERLY = ['join', 'graceful leave', 'hand-over', 'total changed'];

const PANELS: readonly Panel[] = [
  {
    title: 'Requests, by instances (1,000 shards)',
    events: [...ORDERLY, 'crash'],
    along: 'instances',
    fixed: 1_000,
    value: ({ requests }) => requests,
    unit: '',
  },
  {
    title: 'Requests, by shards (16 instances)',
    events: [...ORDERLY, 'crash'],
    along: 'shards',
    fixed: 16,
    value: ({ requests }) => requests,
    unit: '',
  },
  {
    title: 'Time, by instances (1,000 shards), all in one process',
    events: ORDERLY,
    along: 'instances',
    fixed: 1_000,
    value: ({ milliseconds }) => milliseconds,
    unit: ' ms',
  },
  {
    title: 'Time, by shards (16 instances), all in one process',
    events: ORDERLY,
    along: 'shards',
    fixed: 16,
    value: ({ milliseconds }) => milliseconds,
    unit: ' ms',
  },
];

function linePanel(growth: readonly GrowthRow[], panel: Panel, x: number, y: number): string {
  const other = panel.along === 'instances' ? 'shards' : 'instances';
  const rows = growth.filter(
    (row) => row[other] === panel.fixed && panel.events.includes(row.event),
  );
  if (rows.length === 0) return '';
  const stops = [...new Set(rows.map((row) => row[panel.along]))].sort((a, b) => a - b);
  const top = y + 40;
  const left = x + 60;
  const width = WIDTH / 2 - 170;
  const height = 210;
  const most = Math.max(...rows.map(panel.value), 1);
  const atX = (stop: number): number =>
    left + (stops.indexOf(stop) / Math.max(1, stops.length - 1)) * width;
  const atY = (value: number): number => top + height - (value / most) * height;
  const grid = [0, 0.5, 1].map((share) => {
    const line = atY(share * most).toFixed(1);
    return [
      `<line x1="${left}" x2="${left + width}" y1="${line}" y2="${line}" stroke="#e5e7eb"/>`,
      text(left - 6, Number(line) + 4, shortened(share * most) + panel.unit, {
        anchor: 'end',
        colour: FAINT,
      }),
    ].join('\n');
  });
  const ticks = stops.map((stop) =>
    text(atX(stop), top + height + 18, stop.toLocaleString('en'), { anchor: 'middle' }),
  );
  const ends = spreadOut(
    panel.events.map((event) => atY(panel.value(rows.findLast((row) => row.event === event)!))),
  );
  const lines = panel.events.map((event, index) => {
    const points = rows
      .filter((row) => row.event === event)
      .map((row) => `${atX(row[panel.along]).toFixed(1)},${atY(panel.value(row)).toFixed(1)}`);
    const colour = COLOURS[index]!;
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      text(left + width + 8, ends[index]! + 4, event, { colour }),
    ].join('\n');
  });
  return [text(x + 16, y + 20, panel.title, { size: 14 }), ...grid, ...ticks, ...lines].join('\n');
}

/** Labels that would lie on each other move apart. */
function spreadOut(positions: readonly number[], distance = 14): number[] {
  const order = positions.map((_, index) => index).sort((a, b) => positions[a]! - positions[b]!);
  const result = [...positions];
  order.forEach((index, rank) => {
    if (rank === 0) return;
    result[index] = Math.max(result[index]!, result[order[rank - 1]!]! + distance);
  });
  return result;
}

interface TextStyle {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly colour?: string;
}

function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { anchor = 'start', size = 12, colour = INK } = style;
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}" fill="${colour}">${escaped}</text>`;
}

function shortened(value: number): string {
  if (value >= 10_000) return `${Math.round(value / 1_000)}k`;
  return value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}
