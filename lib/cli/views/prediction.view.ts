import { formatSomeItems } from '../../admin/item-ranges.js';
import type { Prediction } from '../../admin/predict.js';
import { type Look, paragraph, table } from './table.js';
import { count, plain } from './text.js';

/** What would happen, in a sentence. */
export function predictionLine({ total, moves, stopped, unplaced, settles }: Prediction): string {
  const parts = [
    `${count(moves, 'item')} of ${total} would move`,
    `${stopped} would be stopped on the way`,
    ...(unplaced.length > 0 ? [`nobody would hold ${formatSomeItems(unplaced)}`] : []),
    ...(settles ? [] : ['this was not followed to its end']),
  ];
  return parts.join('; ');
}

export function predictionLines(prediction: Prediction, look: Look): string[] {
  const { loads, moved } = prediction;
  const routes = new Map<string, { from: string; to: string; items: number[] }>();
  for (const { item, from = '', to } of moved) {
    const key = JSON.stringify([from, to]);
    const route = routes.get(key) ?? { from, to, items: [] };
    route.items.push(item);
    routes.set(key, route);
  }
  return [
    ...paragraph(`${plain(predictionLine(prediction))}.`, 0, look),
    '',
    ...table(
      [{ title: 'INSTANCE' }, { title: 'NOW', align: 'right' }, { title: 'THEN', align: 'right' }],
      loads.map(({ id, before, after }) => [id, String(before), String(after)]),
      look,
    ),
    ...(routes.size === 0 ? [] : ['']),
    ...(routes.size === 0
      ? []
      : table(
          [
            { title: 'FROM', least: 20 },
            { title: 'TO', least: 20 },
            { title: 'ITEMS', least: 16 },
          ],
          [...routes.values()].map(({ from, to, items }) => [from, to, formatSomeItems(items)]),
          look,
        )),
  ];
}
