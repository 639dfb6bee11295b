import { join } from 'node:path';
import { type GroupConfig, now } from '../e2e/fixtures/member.protocol.js';
import { type Member, MemberProcess } from '../e2e/member.js';
import { type Holding, merge } from '../e2e/recording.js';
import { described, problemOf, saidBy } from '../e2e/settled.js';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import { SeededRandom } from '../kit/seeded-random.js';
import { TcpProxy } from '../kit/tcp-proxy.js';
import { type LinkDirection, ZooKeeperEnsemble } from '../kit/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { check, type Violation } from '../simulation/checker.js';
import { keepLines } from './keep-lines.js';
import { passes } from './scene.js';

/**
 * The case for which there is a lease: an app is connected to a server that has lost ZooKeeper's leader.
 * The server goes on answering it, and its session is over meanwhile.
 */
export interface FreezesOptions {
  /** How many samples: each group gives one with each freeze. */
  readonly samples: number;
  readonly seed: number;
  readonly folder: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FreezesProgress) => void;
}

export interface FreezeSample {
  /** The session timeout. */
  readonly timeout: number;
  /** Which direction was frozen, and what else. */
  readonly manner: string;
  /** What the leader waits: D + margin. */
  readonly wait: number;
  /** From the last "yes" of the old holder to the first of the new one; undefined if nothing moved. */
  readonly gap: number | undefined;
}

export interface FreezesProgress {
  readonly elapsed: number;
  readonly freezes: number;
  readonly samples: readonly FreezeSample[];
  readonly violations: readonly Violation[];
}

const TIMEOUTS = [2_000, 4_000, 10_000];

interface Manner {
  readonly name: string;
  /** `forth` is from the server that is cut off to the leader. */
  readonly direction: LinkDirection;
  /** The server takes no new connections meanwhile. */
  readonly refuses: boolean;
}

/**
 * With `back` alone an app that reconnects keeps its session: the server's question whether there is
 * one reaches the leader and counts as a sign of life, only the answer does not come back.
 */
const MANNERS: readonly Manner[] = [
  { name: 'forth', direction: 'forth', refuses: false },
  { name: 'back, refusing', direction: 'back', refuses: true },
  { name: 'both', direction: 'both', refuses: false },
  { name: 'back', direction: 'back', refuses: false },
];

/** For each timeout. They have sessions of their own, so each is a sample of its own. */
const GROUPS = 3;
const TOTAL = 4;
const TICK = 200;
const FORMATION = 60_000;
/** What is frozen lasts no longer than this; servers bear with each other for longer. */
const LONGEST = 24_000;
const SYNC_LIMIT = 150;
/** Freezes begin at any moment between two renewals of a lease. */
const PHASE = 2_500;

/** One member beside the server that is cut off and one elsewhere. */
interface Pair {
  readonly timeout: number;
  readonly near: Member;
  readonly far: Member;
}

const waitOf = (timeout: number): number => timeout / 2 + Math.max(500, timeout / 20);

/** Of the items that moved, the one whose holders came closest to each other. */
export function smallestGap(
  former: readonly Holding[],
  later: readonly Holding[],
): number | undefined {
  const gaps = former.flatMap(({ item, token, to }) => {
    const next = later
      .filter((other) => other.item === item && other.token > token)
      .toSorted((a, b) => a.from - b.from)[0];
    return next ? [next.from - to] : [];
  });
  return gaps.length === 0 ? undefined : Math.min(...gaps);
}

export async function runFreezes(options: FreezesOptions): Promise<FreezesProgress> {
  const ensemble = await ZooKeeperEnsemble.start({
    links: true,
    tickTime: TICK,
    syncLimit: SYNC_LIMIT,
  });
  const run = new Freezes(options, ensemble);
  try {
    return await run.run();
  } finally {
    await run.close();
    await ensemble.close();
  }
}

class Freezes {
  readonly #started = now();
  readonly #random: SeededRandom;
  readonly #pairs: Pair[] = [];
  readonly #samples: FreezeSample[] = [];
  readonly #stuck: Violation[] = [];
  #violations: readonly Violation[] = [];
  #freezes = 0;

  constructor(
    private readonly options: FreezesOptions,
    private readonly ensemble: ZooKeeperEnsemble,
  ) {
    this.#random = new SeededRandom(options.seed);
  }

  get progress(): FreezesProgress {
    return {
      elapsed: now() - this.#started,
      freezes: this.#freezes,
      samples: this.#samples,
      violations: this.#violations,
    };
  }

  async run(): Promise<FreezesProgress> {
    const { signal, samples, onProgress } = this.options;
    const timer = setInterval(() => onProgress?.(this.progress), 1_000);
    try {
      const [cutOff] = await this.ensemble.followers();
      const way = await TcpProxy.start({ target: cutOff!.port });
      await this.#gather(cutOff!, way);
      await this.#settled(FORMATION);
      const isOver = () => signal?.aborted === true || this.#violations.length > 0;
      while (this.#samples.length < samples && !isOver()) {
        await this.#freeze(cutOff!, way, MANNERS[this.#freezes % MANNERS.length]!);
      }
      return this.progress;
    } finally {
      clearInterval(timer);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#pairs.flatMap(({ near, far }) => [near.kill(), far.kill()]));
  }

  async #gather(cutOff: ZooKeeperServer, way: TcpProxy): Promise<void> {
    const others = this.ensemble.members.filter((server) => server !== cutOff);
    const elsewhere = others.map(({ connect }) => connect).join(',');
    for (const timeout of TIMEOUTS) {
      const namespaces = Array.from({ length: GROUPS }, () => uniqueNamespace(`t${timeout}`));
      const far = await this.#start('far', timeout, elsewhere, namespaces);
      const near = await this.#start('near', timeout, way.connect, namespaces);
      for (const [index, member] of near.members.entries()) {
        this.#pairs.push({ timeout, near: member, far: far.members[index]! });
      }
    }
  }

  /** One process with an application for each group. */
  async #start(
    side: string,
    timeout: number,
    connect: string,
    namespaces: readonly string[],
  ): Promise<MemberProcess> {
    const apps = namespaces.map((namespace, index): GroupConfig[] => [
      {
        who: `${side}-${timeout}-${index}`,
        id: side,
        namespace,
        total: TOTAL,
        drainTimeout: 1_000,
      },
    ]);
    const process = await MemberProcess.start({ connect, sessionTimeout: timeout, apps });
    keepLines(process, join(this.options.folder, `${side}-${timeout}.log`));
    await process.loaded(FORMATION);
    process.go();
    return process;
  }

  async #freeze(cutOff: ZooKeeperServer, way: TcpProxy, manner: Manner): Promise<void> {
    const { signal } = this.options;
    const leader = await this.#leaderBeside(cutOff);
    await this.#settled(FORMATION);
    await passes(this.#random.below(PHASE), signal);
    if (signal?.aborted) return;
    const before = this.#pairs.map(({ near }) => near.items);
    const link = this.ensemble.link(cutOff, leader);
    const begun = now();
    link.freeze(manner.direction);
    if (manner.refuses) way.refuse();
    await eventually(
      () => this.#pairs.every(({ far }) => far.items.length === TOTAL) || signal?.aborted === true,
      { timeout: LONGEST },
    ).catch(() => {});
    link.thaw();
    await way.restore();
    await this.#settled(FORMATION);
    this.#freezes += 1;
    for (const [index, { timeout, near, far }] of this.#pairs.entries()) {
      // What was held when it began, and what the other one has been given since.
      const former = near.recording.holdings.filter(
        ({ item, from, to }) => before[index]!.includes(item) && from < begun && to >= begun - 100,
      );
      const later = far.recording.holdings.filter(({ from }) => from >= begun);
      const gap = smallestGap(former, later);
      this.#samples.push({ timeout, manner: manner.name, wait: waitOf(timeout), gap });
      near.process.forgetLines();
      far.process.forgetLines();
    }
    this.#judge();
  }

  /** The server that is cut off must not be the one that leads. */
  async #leaderBeside(cutOff: ZooKeeperServer): Promise<ZooKeeperServer> {
    await this.ensemble.ready();
    const leader = await this.ensemble.leader();
    if (leader !== cutOff) return leader;
    await cutOff.kill();
    const next = await this.ensemble.leader();
    await cutOff.start();
    await this.ensemble.ready();
    return next;
  }

  async #settled(timeout: number): Promise<void> {
    const since = now();
    await eventually(
      () => {
        for (const { near, far } of this.#pairs) {
          const states = [near, far].map((member) => saidBy(member, since));
          const problem = problemOf(states, TOTAL);
          if (problem) throw new Error(`${problem}: ${states.map(described).join('; ')}`);
        }
      },
      { timeout, label: 'all groups settled' },
    ).catch((error: unknown) => {
      this.#stuck.push({ time: now(), rule: 'nothing wedges', text: String(error) });
    });
  }

  #judge(): void {
    const found = this.#pairs.flatMap(({ near, far }) =>
      check(merge([near.recording.events(false), far.recording.events(false)])),
    );
    this.#violations = [...found, ...this.#stuck];
  }
}
