import type { CoordinatorOptions } from '../../lib/coordinator/coordinator.types.js';
import type { SeededRandom } from '../kit/seeded-random.js';
import { drawSettings, PLAIN, type Settings } from './operators.js';
import type { Temper } from './simulated-process.js';

/** What a seed draws before anything happens. */
export interface Draw {
  readonly instances: number;
  readonly servers: number;
  readonly total: number | 'instances';
  readonly sessionTimeout: number;
  readonly drainTimeout: number;
  readonly rebalanceDelay: number;
  readonly latency: number;
  readonly temper: 'quick' | 'slow' | 'bad';
  readonly rejoin: { readonly window: number; readonly lends: boolean };
  readonly lease: CoordinatorOptions['lease'];
  /** What instances weigh by their own word, one after the other. */
  readonly weights: readonly number[];
  readonly waitsAtStart: boolean;
  readonly isObserved: boolean;
  /** How the group is configured when all is calm. */
  readonly calmSettings: Settings;
}

export function drawCluster(random: SeededRandom): Draw {
  return {
    instances: 2 + random.below(random.pick([3, 5, 11])),
    servers: random.pick([1, 3, 3]),
    total: random.pick([1, 3, 8, 8, 16, 'instances' as const]),
    sessionTimeout: random.pick([1_000, 2_000, 4_000]),
    drainTimeout: random.pick([200, 500, 2_000]),
    rebalanceDelay: random.pick([0, 0, 300]),
    latency: random.pick([1, 5, 20]),
    temper: random.pick(['quick', 'quick', 'slow', 'bad'] as const),
    rejoin: { window: random.pick([0, 0, 0, 1_500, 6_000]), lends: random.below(2) === 0 },
    lease: {
      duration: random.pick([undefined, undefined, undefined, 300, 800, 3_000]),
      margin: random.pick([undefined, undefined, undefined, 100, 1_000]),
    },
    // Neighbours differ, so that not everybody is on standby.
    weights: random.pick([[1], [1], [1], [1, 2], [1, 0, 3]]),
    waitsAtStart: random.below(4) === 0,
    isObserved: random.below(3) === 0,
    calmSettings: drawCalm(random),
  };
}

/** Mostly nothing special; never a pause, in which nothing would come to rest. */
function drawCalm(random: SeededRandom): Settings {
  if (random.below(3) > 0) return PLAIN;
  return { ...drawSettings(random.fraction(), ['i0', 'i1', 'a', 'z']), paused: false };
}

/** What an instance weighs by its own word, the same in each of its lives. */
export function weightOf(id: string, { weights }: Pick<Draw, 'weights'>): number {
  return weights[id.charCodeAt(id.length - 1) % weights.length]!;
}

/** How the application of a process behaves; the numbers come as they are asked for. */
export function temperOf(
  { temper, drainTimeout }: Pick<Draw, 'temper' | 'drainTimeout'>,
  random: SeededRandom,
): Temper {
  if (temper === 'quick') {
    return { drain: () => random.pick([0, 0, 5]), hook: () => 0, throws: () => false };
  }
  if (temper === 'slow') {
    return {
      drain: () => random.below(drainTimeout),
      hook: () => random.below(drainTimeout / 4),
      throws: () => false,
    };
  }
  return {
    drain: () => random.pick([0, drainTimeout / 2, drainTimeout * 2, Infinity]),
    hook: () => random.pick([0, 0, drainTimeout * 2, Infinity]),
    throws: () => random.below(4) === 0,
  };
}
