import { describe, expect, it } from '@jest/globals';
import { Audit } from '../../demo/audit.js';

/** One item, and each instance asked at these times with these answers. */
function audited(answers: Record<string, [at: number, isOwned: boolean][]>): Audit {
  const audit = new Audit(1);
  const looks = Object.entries(answers).flatMap(([who, own]) =>
    own.map(([at, isOwned], index) => ({ who, at, isOwned, before: own[index - 1]?.[0] ?? at })),
  );
  for (const { who, at, before, isOwned } of looks.toSorted((a, b) => a.at - b.at)) {
    const items = isOwned ? [0] : [];
    audit.look(who, { at, before, items, times: 1, longestPause: at - before });
  }
  return audit;
}

describe('the audit of the demo', () => {
  it('finds nothing where one owner follows the other', () => {
    const audit = audited({
      ada: [[0, true], [10, true], [20, false]], // prettier-ignore
      ben: [[0, false], [15, false], [25, true]], // prettier-ignore
    });
    expect(audit.overlaps).toEqual([]);
    expect(audit.between(0, 100)).toEqual({ moves: 1, longestGap: 15 });
    expect([audit.questions, audit.longestPause]).toEqual([6, 15]);
    expect(audit.holders(0)).toEqual(['ben']);
  });

  it('finds two who say yes at the same instant', () => {
    const audit = audited({ ada: [[0, true], [10, true], [20, false]], ben: [[10, true]] }); // prettier-ignore
    expect(audit.overlaps).toEqual([{ item: 0, holders: ['ada', 'ben'], milliseconds: 0 }]);
  });

  it('finds one who says yes before and after another has', () => {
    const audit = audited({ ada: [[0, true], [20, true], [30, false]], ben: [[15, true]] }); // prettier-ignore
    expect(audit.overlaps).toHaveLength(1);
  });

  it('takes it that an owner whose looks were passed on rarely was one until it was asked before', () => {
    const audit = new Audit(1);
    const rest = { times: 1, longestPause: 0 };
    audit.look('ada', { at: 0, before: 0, items: [0], ...rest });
    audit.look('ben', { at: 100, before: 96, items: [0], ...rest });
    audit.look('ada', { at: 108, before: 104, items: [], ...rest });
    audit.look('ben', { at: 110, before: 106, items: [0], ...rest });
    expect(audit.overlaps).toEqual([{ item: 0, holders: ['ada', 'ben'], milliseconds: 4 }]);
  });

  it('finds a yes of one who was taken for gone', () => {
    const audit = audited({ ada: [[0, true]] });
    audit.gone('ada', 5);
    audit.look('ben', { at: 50, before: 46, items: [0], times: 1, longestPause: 4 });
    audit.look('ada', { at: 60, before: 4, items: [0], times: 1, longestPause: 0 });
    audit.look('ben', { at: 62, before: 50, items: [0], times: 1, longestPause: 4 });
    expect(audit.overlaps).toEqual([{ item: 0, holders: ['ben', 'ada'], milliseconds: 0 }]);
    expect(audit.between(0, 55)).toEqual({ moves: 1, longestGap: 45 });
  });

  it('counts only the moves of the time asked for, and no first grant', () => {
    const audit = audited({ ada: [[0, true], [10, false], [20, true], [30, false], [40, true]] }); // prettier-ignore
    expect(audit.between(0, 100).moves).toBe(2);
    expect(audit.between(0, 25).moves).toBe(1);
    expect(audit.between(21, 25)).toEqual({ moves: 0, longestGap: 0 });
  });
});
