import { describe, expect, it } from '@jest/globals';
import { Audit } from '../../demo/audit.js';
import { colours, draw, inOneLine, noColours, type Scene } from '../../demo/picture.js';
import type { Appearance } from '../../demo/stage.js';

function scene(): Scene {
  const audit = new Audit(24);
  const look = (who: string, at: number, items: number[]) =>
    audit.look(who, { at, before: at, items, times: 1, longestPause: 0 });
  look('ada', 0, [0, 1, 2, 3, 8]);
  look('ben', 4_500, [4, 5]);
  const ada = { state: 'ready', isLeader: true, finishing: [] };
  const ben = { state: 'connecting', isLeader: false, finishing: [6] };
  return {
    audit,
    setting: 'a setting',
    title: 'ben joins',
    cast: new Map<string, Appearance>(Object.entries({ ada, ben })),
    at: 5_000,
    elapsed: 5,
    log: Array.from({ length: 40 }, (_, index) => `line ${index} ${'x'.repeat(90)}`),
    score: 'the score',
  };
}

describe('the picture of the demo', () => {
  it('shows who leads, holds what, what moves and what nobody has', () => {
    const lines = draw(scene(), noColours, 80, 23);
    expect(lines.slice(0, 9)).toEqual([
      ' 24 shards · a setting                                                   5.0 s',
      '',
      ' ben joins',
      '',
      '                0       4       8       12      16      20',
      ' ★ ada      5   ■ ■ ■ ■ · · · · ■ · · · · · · · · · · · · · · ·   ready',
      '   ben      2   · · · · ◆ ◆ □ · · · · · · · · · · · · · · · · ·   connecting',
      '   nobody  16                 ○   ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○ ○',
      '',
    ]);
    expect(lines.at(-1)).toBe(' the score');
  });

  it('fits into the terminal, with the latest lines', () => {
    const lines = draw(scene(), noColours, 80, 23);
    expect(lines).toHaveLength(23);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
    expect(lines.at(-3)).toContain('line 39');
  });

  it('is the same with colours', () => {
    const plain = (line: string) => line.replaceAll(/\u001B\[\d+m/g, '');
    const coloured = draw(scene(), colours, 80, 23);
    expect(coloured.join('')).toContain('\u001B[32m■');
    expect(coloured.map(plain)).toEqual(draw(scene(), noColours, 80, 23));
  });

  it('has a form in one line', () => {
    const { cast, audit } = scene();
    expect(inOneLine(cast, audit)).toBe('ada* 0-3 8 | ben 4-5');
  });
});
