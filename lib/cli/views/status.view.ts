import type { GroupConfig } from '../../coordinator/group-config.js';
import { formatSomeItems } from '../../admin/item-ranges.js';
import { formatLabels, type InstanceState } from '../../admin/standing.js';
import type { GroupStatus, InstanceStatus } from '../../admin/status.js';
import type { Style } from '../terminal.js';
import { problemLines } from './doctor.view.js';
import { type Cell, type Look, paragraph, table } from './table.js';
import { clock, count, duration, plain, shorten } from './text.js';

const STYLES: Readonly<Partial<Record<InstanceState | GroupStatus['state'], Style>>> = {
  settled: 'green',
  moving: 'yellow',
  unplanned: 'red',
  unreadable: 'red',
  gone: 'red',
  away: 'yellow',
  cordoned: 'yellow',
  drained: 'yellow',
  disabled: 'yellow',
};

/** The whole status, for a person. */
export function statusLines(status: GroupStatus, look: Look): string[] {
  return [
    ...headline(status, look),
    ...section('', instanceTable(status, look)),
    ...section('Waiting', waitTable(status, look), look),
    ...section('Configuration', configurationLines(status.configuration, look), look),
    ...section('Problems', problemLines(status.problems, look), look),
  ];
}

function section(title: string, lines: readonly string[], look?: Look): string[] {
  if (lines.length === 0) return [];
  return ['', ...(title === '' || !look ? [] : [look.paint('bold', title)]), ...lines];
}

function headline(
  { namespace, at, state, total, nextTotal, instances, leader, stale }: GroupStatus,
  look: Look,
): string[] {
  const led = leader ? `led by ${leader.id}` : 'nobody leads';
  const items = nextTotal === undefined ? count(total, 'item') : `${total} → ${nextTotal} items`;
  const text = `${shorten(plain(namespace), 30)}: ${state}, ${items}, ${count(instances.length, 'instance')}, ${plain(led)}${stale ? ` (as of ${clock(at)}: no connection)` : ''}`;
  const style = STYLES[state];
  return paragraph(text, 0, look).map((line) =>
    style ? line.replace(state, look.paint(style, state)) : line,
  );
}

function instanceTable({ instances }: GroupStatus, look: Look): string[] {
  if (instances.length === 0) return [];
  return table(
    [
      { title: '', most: 1 },
      { title: 'INSTANCE', most: 32 },
      { title: 'STATE', most: 10 },
      { title: 'WEIGHT', most: 8, align: 'right' },
      { title: 'LEASE', most: 8, align: 'right' },
      { title: 'LABELS', most: 20, isMinor: true },
      { title: 'HOLDS', most: 7, align: 'right' },
      { title: 'ITEMS' },
    ],
    instances.map(instanceCells),
    look,
  );
}

function instanceCells(instance: InstanceStatus): Cell[] {
  const { id, state, leads, weight, lease, labels = {}, items, releasing } = instance;
  const style = STYLES[state];
  const leaving = releasing.length > 0 ? `letting go of ${formatSomeItems(releasing)}` : '';
  return [
    leads ? { text: '★', style: 'cyan' } : '',
    id,
    style ? { text: state, style } : state,
    weight === undefined ? '' : String(Number(weight.toPrecision(4))),
    lease === undefined ? '' : duration(lease),
    formatLabels(labels),
    String(items.length),
    [formatSomeItems(items), leaving].filter((text) => text !== '').join('; '),
  ];
}

function waitTable({ waits }: GroupStatus, look: Look): string[] {
  if (waits.length === 0) return [];
  return table(
    [{ title: 'ITEMS' }, { title: 'FROM', most: 16 }, { title: 'TO', most: 16 }, { title: 'WHY' }],
    waits.map(({ items, from = '', to = '', why }) => [formatSomeItems(items), from, to, why]),
    look,
  );
}

export function configurationLines(config: GroupConfig | undefined, look: Look): string[] {
  if (!config) return [];
  const { total, strategy, paused, spreadOver, maxMoves, items, instances } = config;
  const general = [
    `total ${total}`,
    `strategy ${strategy}`,
    ...(paused ? ['paused'] : []),
    ...(spreadOver === undefined ? [] : [`spread over ${spreadOver}`]),
    ...(maxMoves === undefined ? [] : [`at most ${maxMoves} on the move`]),
  ];
  return [
    ...paragraph(plain(general.join(', ')), 0, look),
    ...Object.entries(instances).flatMap(([id, said]) =>
      paragraph(`${shorten(plain(id), 32)}: ${words(said)}`, 0, look),
    ),
    ...itemGroups(items).flatMap(([said, numbers]) =>
      paragraph(`${formatSomeItems(numbers)}: ${said}`, 0, look),
    ),
  ];
}

/** Items of which the same is said stand together. */
function itemGroups(items: GroupConfig['items']): [string, number[]][] {
  const groups = new Map<string, number[]>();
  for (const [item, said] of Object.entries(items)) {
    const key = words(said);
    groups.set(key, [...(groups.get(key) ?? []), Number(item)]);
  }
  return [...groups];
}

function words(said: object): string {
  return Object.entries(said)
    .map(([key, value]) => {
      if (value === true) return key;
      const shown = key === 'needs' ? formatLabels(value as Record<string, string>) : value;
      const text = typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? '');
      return `${key} ${shorten(plain(text), 60)}`;
    })
    .join(', ');
}

/** One line, for logs. */
export function statusLine(status: GroupStatus): string {
  const { at, state, total, leader, instances, waits, stale } = status;
  const loads = instances.map(({ id, items }) => `${shorten(plain(id), 20)} ${items.length}`);
  const waiting = waits.reduce((sum, { items }) => sum + items.length, 0);
  return [
    `${clock(at)} ${state}${stale ? ' (no connection)' : ''}`,
    count(total, 'item'),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    leader ? `led by ${shorten(plain(leader.id), 20)}` : 'nobody leads',
    loads.join(' '),
  ].join(', ');
}
