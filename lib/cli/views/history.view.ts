import type { HistoryCauses, HistoryEntry } from '../../coordinator/history-entry.js';
import { list } from '../../admin/diagnose.js';
import { type Look, table } from './table.js';
import { duration, time } from './text.js';

export function historyLines(entries: readonly HistoryEntry[], look: Look): string[] {
  if (entries.length === 0) return ['Nothing has moved yet.'];
  return table(
    [
      { title: 'WHEN', least: 10 },
      { title: 'LEADER', least: 16 },
      { title: 'MOVED', align: 'right' },
      { title: 'TOOK', align: 'right' },
      { title: 'WAITED', align: 'right' },
      { title: 'DRAINED', align: 'right' },
      { title: 'WHY', least: 16 },
    ],
    entries.map(({ at, leader, moved, took, why, total }) => [
      time(at),
      leader,
      String(moved),
      duration(took.all),
      took.waiting > 0 ? duration(took.waiting) : '',
      took.draining > 0 ? duration(took.draining) : '',
      causes(why, total),
    ]),
    look,
  );
}

function causes(why: HistoryCauses, total: number): string {
  const { joined, left, crashed, previousTotal, configured, asked, inherited } = why;
  const parts = [
    ...(joined.length > 0 ? [`${list(joined)} joined`] : []),
    ...(left.length > 0 ? [`${list(left)} left`] : []),
    ...(crashed.length > 0 ? [`${list(crashed)} crashed`] : []),
    ...(previousTotal === undefined ? [] : [`total from ${previousTotal} to ${total}`]),
    ...(configured.length > 0 ? [`changed: ${list(configured)}`] : []),
    ...(asked ? ['asked for'] : []),
    ...(inherited ? ['begun under another leader'] : []),
  ];
  return parts.join('; ');
}
