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
  const lease = commonLease(instances);
  const leases = lease === undefined ? '' : ` with leases of ${duration(lease)}`;
  const text = `${plain(namespace)}: ${state}, ${items}, ${count(instances.length, 'instance')}${leases}, ${plain(led)}${stale ? ` (as of ${clock(at)}: no connection)` : ''}`;
  const style = STYLES[state];
  return paragraph(text, 0, look).map((line) =>
    style ? line.replace(state, look.paint(style, state)) : line,
  );
}

/** Undefined where they differ, or there are none. */
function commonLease(instances: GroupStatus['instances']): number | undefined {
  const leases = new Set(instances.flatMap(({ lease }) => lease ?? []));
  return leases.size === 1 ? [...leases][0] : undefined;
}

function instanceTable({ instances }: GroupStatus, look: Look): string[] {
  if (instances.length === 0) return [];
  // A column in which all is the same would take its room from what differs.
  const isLeaseSaid = commonLease(instances) !== undefined;
  return table(
    [
      { title: '' },
      { title: 'INSTANCE' },
      { title: 'STATE' },
      { title: 'WEIGHT', align: 'right' },
      { title: 'LEASE', align: 'right' },
      { title: 'LABELS', least: 8 },
      { title: 'HOLDS', align: 'right' },
      { title: 'ITEMS', least: 8 },
    ],
    instances.map((instance) => instanceCells(instance, isLeaseSaid)),
    look,
  );
}

function instanceCells(instance: InstanceStatus, isLeaseSaid: boolean): Cell[] {
  const { id, state, leads, weight, lease, labels = {}, items, releasing } = instance;
  const style = STYLES[state];
  const leaving = releasing.length > 0 ? `letting go of ${formatSomeItems(releasing)}` : '';
  return [
    leads ? { text: '★', style: 'cyan' } : '',
    id,
    style ? { text: state, style } : state,
    weight === undefined ? '' : String(Number(weight.toPrecision(4))),
    isLeaseSaid || lease === undefined ? '' : duration(lease),
    formatLabels(labels),
    String(items.length),
    [formatSomeItems(items), leaving].filter((text) => text !== '').join('; '),
  ];
}

function waitTable({ waits }: GroupStatus, look: Look): string[] {
  if (waits.length === 0) return [];
  return table(
    [
      { title: 'ITEMS', least: 8 },
      { title: 'FROM', least: 16 },
      { title: 'TO', least: 16 },
      { title: 'WHY', least: 24 },
    ],
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
      paragraph(`${plain(id)}: ${words(said)}`, 0, look),
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
  const loads = instances.map(({ id, items }) => `${plain(id)} ${items.length}`);
  const waiting = waits.reduce((sum, { items }) => sum + items.length, 0);
  return [
    `${clock(at)} ${state}${stale ? ' (no connection)' : ''}`,
    count(total, 'item'),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    leader ? `led by ${plain(leader.id)}` : 'nobody leads',
    loads.join(' '),
  ].join(', ');
}
