/**
 * How the strategies grow: a member joins a settled group, ten times the items with ten times the
 * members.
 */
import type {
  ShardingStrategy,
  StrategyInput,
} from '../lib/interfaces/sharding-strategy.interface.js';
import { average, rendezvous, sticky } from '../lib/strategies/index.js';
import type { Report } from './report.js';
import { median, now } from './statistics.js';
import { rounded } from './table.js';

const SIZES = [
  [1_000, 10],
  [10_000, 100],
  [100_000, 1_000],
] as const;
const LIMIT = 5;
const ZONES = ['a', 'b', 'c'];

interface Mode {
  readonly name: string;
  readonly rounds: number;
  readonly strategy: ShardingStrategy;
  readonly input: (total: number, size: number) => Omit<StrategyInput, 'current'>;
  /** Milliseconds that the largest may take. */
  readonly limit?: number;
}

const weightOf = (index: number): number => 1 + (index % 7) / 2;

function plain(total: number, size: number, weigh: (index: number) => number = () => 1) {
  const members = Array.from({ length: size }, (_, index) => ({
    id: `m${String(index).padStart(6, '0')}`,
    weight: weigh(index),
    labels: { zone: ZONES[index % 3]!, ...(index % 4 === 0 && { disk: 'fast' }) },
  }));
  return { members, total };
}

function withDemands(total: number, size: number) {
  return {
    ...plain(total, size),
    demands: [{ labels: { zone: 'a' } }, { labels: { disk: 'fast' } }, { id: 'm000003' }],
    demandOf: Int32Array.from({ length: total }, (_, item) => (item % 10 < 3 ? item % 10 : -1)),
  };
}

const MODES: readonly Mode[] = [
  { name: 'sticky', rounds: 100, strategy: sticky, input: plain, limit: LIMIT },
  {
    name: 'sticky, weights of members',
    rounds: 100,
    strategy: sticky,
    input: (total, size) => plain(total, size, weightOf),
    limit: LIMIT,
  },
  {
    name: 'sticky, zones',
    rounds: 100,
    strategy: sticky,
    input: (total, size) => ({ ...plain(total, size), spreadOver: 'zone' }),
  },
  { name: 'sticky, demands', rounds: 50, strategy: sticky, input: withDemands },
  {
    name: 'sticky, weights of items',
    rounds: 20,
    strategy: sticky,
    input: (total, size) => ({
      ...plain(total, size),
      itemWeights: Float64Array.from({ length: total }, (_, item) => weightOf(item)),
    }),
  },
  { name: 'average', rounds: 100, strategy: average, input: plain },
  { name: 'rendezvous', rounds: 5, strategy: rendezvous, input: plain },
  {
    name: 'rendezvous, weights of members',
    rounds: 5,
    strategy: rendezvous,
    input: (total, size) => plain(total, size, weightOf),
  },
];

function timeOfJoin({ strategy, input, rounds }: Mode, total: number, size: number): number {
  const before = input(total, size);
  const settled = strategy({ ...before, current: new Int32Array(total).fill(-1) });
  const joined = { ...input(total, size + 1), current: Int32Array.from(settled) };
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = now();
    strategy(joined);
    times.push(now() - started);
  }
  return median(times);
}

export function benchStrategies(report: Report): void {
  report.note('strategies');
  for (const mode of MODES) {
    const joins = SIZES.map(([total, size]) => ({
      name: `${total} × ${size}`,
      time: timeOfJoin(mode, total, size),
    }));
    const largest = joins.pop()!;
    const smaller = joins.map(({ name, time }) => `${rounded(time)} ms for ${name}`).join(', ');
    const { limit } = mode;
    report.add({
      name: `${mode.name}: a join, ${largest.name}`,
      measured: largest.time,
      unit: 'ms',
      ...(limit !== undefined && { limit }),
      basis: `${limit === undefined ? 'none' : 'fixed'}; ${smaller}`,
    });
  }
}
