import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stripVTControlCharacters, styleText } from 'node:util';
import type { Prediction } from '../../admin/predict.js';
import type { GroupStatus } from '../../admin/status.js';
import { newConfig } from '../../coordinator/group-config.js';
import type { HistoryEntry } from '../../coordinator/history-entry.js';
import { unpainted } from '../terminal.js';
import { doctorLines } from './doctor.view.js';
import { historyLines } from './history.view.js';
import { predictionLines } from './prediction.view.js';
import { statusLine, statusLines } from './status.view.js';
import type { Look } from './table.js';
import { duration, plain, shorten } from './text.js';

const look: Look = { width: 80, paint: unpainted };

const status: GroupStatus = {
  namespace: 'orders',
  at: 0,
  state: 'moving',
  total: 6,
  epoch: 9,
  leader: { id: 'ada', term: 1, deputies: 1 },
  instances: [
    {
      ...{ id: 'ada', state: 'active', leads: true, renews: true, weight: 1, lease: 5_000 },
      ...{ labels: { zone: 'a' }, items: [0, 1, 2], releasing: [3, 4] },
    },
    {
      ...{ id: '10.244.17.203@-@1@-@a3f09b77', state: 'cordoned', leads: false, renews: true },
      ...{ weight: 0.5, lease: 5_000, labels: {}, items: [5], releasing: [] },
    },
  ],
  waits: [
    { items: [3, 4], from: 'ada', to: 'ben', reason: 'draining', why: 'waits for ada to let go' },
  ],
  configuration: { ...newConfig(6, 'sticky'), items: { 1: { pin: 'ada' }, 2: { pin: 'ada' } } },
  problems: [
    { code: 'paused', severity: 'note', message: 'The group is paused', advice: 'Resume it' },
  ],
};

const lines = (text: readonly string[]): string => text.join('\n');

describe('what people see', () => {
  it('of a group', () => {
    expect(lines(statusLines(status, look))).toBe(
      `
orders: moving, 6 items, 2 instances with leases of 5 s, led by ada

   INSTANCE                      STATE     WEIGHT  LABELS  HOLDS  ITEMS
★  ada                           active         1  zone=a      3  0-2; letting
                                                                  go of 3-4
   10.244.17.203@-@1@-@a3f09b77  cordoned     0.5              1  5

Waiting
ITEMS  FROM  TO   WHY
3-4    ada   ben  waits for ada to let go

Configuration
total 6, strategy sticky
1-2: pin ada

Problems
note: The group is paused
  Resume it
`.trim(),
    );
  });

  it('of leases that differ, each its own', () => {
    const instances = status.instances.map((instance, index) => ({
      ...instance,
      lease: 1 + index,
    }));
    const shown = lines(statusLines({ ...status, instances }, look));
    expect(shown).toMatch(/LEASE\b[^]+ada .* 1 ms[^]+ 2 ms/);
    expect(shown).not.toContain('leases of');
  });

  it('of instances with long names, whole: labels are wrapped before ids are', () => {
    const id = '10.244.17.203@-@12345@-@a3f09b77';
    const labels = { zone: 'eu-west-1a', disk: 'ssd' };
    const instances = [
      { ...status.instances[0]!, id, labels, releasing: [], items: [0, 2, 4, 6, 8] },
    ];
    const shown = statusLines({ ...status, instances, waits: [] }, look).slice(2, 6);
    expect(lines(shown)).toBe(
      `
   INSTANCE                          STATE   WEIGHT  LABELS     HOLDS  ITEMS
★  10.244.17.203@-@12345@-@a3f09b77  active       1  zone=eu-       5  0, 2, 4,
                                                     west-1a,          6, 8
                                                     disk=ssd
`.slice(1, -1),
    );
    const waits = [{ ...status.waits[0]!, from: id, to: id, why: `waits for ${id} to let go` }];
    const waiting = statusLines({ ...status, waits, instances: [] }, look).slice(3, 6);
    expect(lines(waiting)).toBe(
      `
ITEMS  FROM                    TO                       WHY
3-4    10.244.17.203@-@        10.244.17.203@-@         waits for
       12345@-@a3f09b77        12345@-@a3f09b77         10.244.17.203@-@12345@-@
`.slice(1, -1),
    );
  });

  it('of a group in one line', () => {
    const line = statusLine(status);
    expect(line).toMatch(/^\d\d:\d\d:\d\d moving, 6 items, 2 waiting, led by ada, ada 3 /);
  });

  it('of a group that is well', () => {
    expect(doctorLines([], look)).toEqual(['Healthy: nothing was found.']);
  });

  it('of what would happen', () => {
    const prediction: Prediction = {
      ...{ total: 4, moves: 2, stopped: 1, steps: 2, unplaced: [3], settles: true },
      moved: [
        { item: 0, from: 'ada', to: 'ben' },
        { item: 1, to: 'ben' },
      ],
      loads: [
        { id: 'ada', before: 1, after: 0 },
        { id: 'ben', before: 1, after: 3 },
      ],
    };
    expect(lines(predictionLines(prediction, look))).toBe(
      `
2 items of 4 would move; 1 would be stopped on the way; nobody would hold 3.

INSTANCE  NOW  THEN
ada         1     0
ben         1     3

FROM  TO   ITEMS
ada   ben  0
      ben  1
`.trim(),
    );
  });

  it('of what happened', () => {
    const entry: HistoryEntry = {
      ...{ at: 0, epoch: 1, leader: 'ada', total: 6, instances: 2, moved: 3 },
      why: {
        ...{ joined: ['ben'], left: [], crashed: ['cleo'], previousTotal: 4 },
        ...{ configured: ['total'], asked: true, inherited: false },
      },
      took: { all: 15_500, waiting: 15_000, draining: 0 },
    };
    expect(lines(historyLines([entry], look))).toMatch(
      /LEADER +MOVED +TOOK +WAITED +WHY\n.+ ada +3 +15\.5 s +15 s +ben joined; cleo crashed/,
    );
    expect(historyLines([], look)).toEqual(['Nothing has moved yet.']);
  });

  it('fits the terminal, whatever others call themselves, and says nothing to it', () => {
    const odds = fc.constantFrom('\u001B[2J', '\n', '\r', '\t', '\u0007', 'é', '…', ' ');
    const anything = fc.string({
      unit: fc.oneof(fc.string({ size: 'small' }), odds),
      maxLength: 60,
    });
    const statuses = fc.record({
      ids: fc.array(anything, { maxLength: 5 }),
      label: anything,
      why: anything,
      items: fc.uniqueArray(fc.nat(5_000), { maxLength: 200 }),
      width: fc.integer({ min: 40, max: 80 }),
    });
    fc.assert(
      fc.property(statuses, ({ ids, label, why, items, width }) => {
        const sorted = items.toSorted((a, b) => a - b);
        const odd: GroupStatus = {
          ...status,
          namespace: label,
          leader: { id: ids[0] ?? 'x', deputies: 0 },
          instances: ids.map((id) => ({
            ...status.instances[0]!,
            id,
            labels: { [label]: label },
            items: sorted,
          })),
          waits: [{ items: sorted, from: ids[0] ?? 'x', reason: 'draining', why }],
          configuration: {
            ...newConfig(9, label),
            instances: Object.fromEntries(ids.map((id) => [id, { weight: 2 }])),
            items: { 1: { parameter: why } },
          },
          problems: [{ code: 'paused', severity: 'error', message: why, advice: label }],
        };
        const paint: Look['paint'] = (style, text) => styleText(style, text);
        for (const line of statusLines(odd, { width, paint })) {
          const shown = stripVTControlCharacters(line);
          expect(shown.length).toBeLessThanOrEqual(width);
          // eslint-disable-next-line no-control-regex
          expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        }
      }),
    );
  });
});

describe('text', () => {
  it('loses its middle where it is too long', () => {
    expect(shorten('10.244.17.203@-@1@-@a3f09b77', 11)).toBe('10.24…09b77');
    expect(shorten('abc', 3)).toBe('abc');
    expect(shorten('abcd', 1)).toBe('…');
  });

  it('cannot move the cursor', () => {
    expect(plain('a\u001B[2Jb\nc\u0007')).toBe('ab�c�');
  });

  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [1_500, '1.5 s'],
    [15_000, '15 s'],
  ])('of %p ms is %p', (milliseconds, text) => expect(duration(milliseconds)).toBe(text));
});
