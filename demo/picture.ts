import type { Audit } from './audit.js';
import type { Appearance } from './stage.js';

/** All that a picture shows. */
export interface Scene {
  readonly setting: string;
  readonly title: string;
  readonly cast: ReadonlyMap<string, Appearance>;
  readonly audit: Audit;
  readonly at: number;
  /** Seconds since the curtain went up. */
  readonly elapsed: number;
  /** What has happened so far, one line each. */
  readonly log: readonly string[];
  /** The sums so far. */
  readonly score: string;
}

/** How text is made to stand out; without colours it stays as it is. */
export interface Paint {
  instance(index: number, text: string): string;
  strong(text: string): string;
  faint(text: string): string;
  alarm(text: string): string;
}

const CODES = [32, 36, 33, 35, 34, 31] as const;
const sgr = (code: number, text: string): string => `\u001B[${code}m${text}\u001B[0m`;

export const colours: Paint = {
  instance: (index, text) => sgr(CODES[index % CODES.length]!, text),
  strong: (text) => sgr(1, text),
  faint: (text) => sgr(2, text),
  alarm: (text) => sgr(31, text),
};

export const noColours: Paint = {
  instance: (_, text) => text,
  strong: (text) => text,
  faint: (text) => text,
  alarm: (text) => text,
};

/** An item that has just come is shown so for this long. */
const NEWS = 1_000;
const NAME = 8;
const SEATS = 5;
const LEGEND = "   ■ held   ◆ just come   □ finishing, then moves on   ○ nobody's   ★ leader";

/** Draws the scene in so many columns and rows at most. */
export function draw(scene: Scene, paint: Paint, columns: number, rows: number): string[] {
  const { audit, cast } = scene;
  const clip = (text: string): string =>
    text.length >= columns ? `${text.slice(0, columns - 2)}…` : text;
  const clock = `${scene.elapsed.toFixed(1)} s`;
  const heading = ` ${audit.total} shards · ${scene.setting}`;
  const actors = [...cast].map(([name, appearance], index) =>
    actorRow(scene, paint, name, appearance, index),
  );
  // The picture keeps its size while instances come.
  const empty = Array.from({ length: Math.max(0, SEATS - 1 - actors.length) }, () => '');
  const top = [
    paint.faint(clip(heading.padEnd(columns - clock.length - 2) + clock)),
    '',
    paint.strong(clip(` ${scene.title}`)),
    '',
    paint.faint(`${' '.repeat(NAME + 8)}${scale(audit.total)}`),
    ...actors,
    nobodyRow(scene, paint),
    ...empty,
    paint.faint(clip(LEGEND)),
    '',
  ];
  const room = Math.max(0, rows - top.length - 2);
  const lines = scene.log.slice(-room).map((line) => clip(` ${line}`));
  const blank = Array.from({ length: room - lines.length }, () => '');
  return [...top, ...lines, ...blank, '', clip(` ${scene.score}`)];
}

function actorRow(
  { audit, at }: Scene,
  paint: Paint,
  name: string,
  { state, isLeader, finishing }: Appearance,
  index: number,
): string {
  let count = 0;
  const cells = Array.from({ length: audit.total }, (_, item) => {
    const since = audit.heldSince(item, name);
    if (since !== undefined) {
      count += 1;
      return paint.instance(index, at - since < NEWS ? '◆' : '■');
    }
    return finishing.includes(item) ? paint.instance(index, '□') : paint.faint('·');
  });
  const label = ` ${isLeader ? '★' : ' '} ${name.padEnd(NAME)}${String(count).padStart(2)}   `;
  const shown = state === 'ready' ? paint.faint(state) : paint.strong(state);
  return `${paint.instance(index, label)}${cells.join(' ')}   ${shown}`;
}

function nobodyRow({ audit, cast }: Scene, paint: Paint): string {
  const isBusy = new Set([...cast.values()].flatMap(({ finishing }) => finishing));
  let count = 0;
  const cells = Array.from({ length: audit.total }, (_, item) => {
    if (audit.holders(item).length > 0 || isBusy.has(item)) return ' ';
    count += 1;
    return paint.alarm('○');
  });
  if (count === 0) return '';
  return `${paint.alarm(`   ${'nobody'.padEnd(NAME)}${String(count).padStart(2)}   `)}${cells.join(' ')}`;
}

function scale(total: number): string {
  let line = '';
  for (let item = 0; item < total; item += 4) line += String(item).padEnd(8);
  return line.trimEnd();
}

/** Who holds what, in one line: `ada* 0-5, 18 | ben …`. */
export function inOneLine(cast: ReadonlyMap<string, Appearance>, audit: Audit): string {
  const groups = [...cast].flatMap(([name, { isLeader, state }]) => {
    const items = Array.from({ length: audit.total }, (_, item) => item).filter((item) =>
      audit.holders(item).includes(name),
    );
    if (items.length === 0 && state !== 'ready') return [];
    return [`${name}${isLeader ? '*' : ''} ${ranges(items)}`];
  });
  return groups.join(' | ');
}

function ranges(items: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last && item === last[1] + 1) last[1] = item;
    else runs.push([item, item]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ') || '-';
}
