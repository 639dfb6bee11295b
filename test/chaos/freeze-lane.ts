import { join } from 'node:path';
import { type GroupConfig, now } from '../e2e/fixtures/member.protocol.js';
import { type Member, MemberProcess } from '../e2e/member.js';
import { passes } from '../e2e/passes.js';
import { type Holding, merge } from '../e2e/recording.js';
import { assertSettled, staysSettled } from '../e2e/settled.js';
import { Cleanup } from '../kit/cleanup.js';
import { eventually } from '../kit/eventually.js';
import { uniqueNamespace } from '../kit/namespace.js';
import { SeededRandom } from '../kit/seeded-random.js';
import { TcpProxy } from '../kit/tcp-proxy.js';
import { type LinkDirection, ZooKeeperEnsemble } from '../kit/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { check, type Violation } from '../simulation/checker.js';
import { keepLines } from './keep-lines.js';

export interface Manner {
  readonly name: string;
  /** `forth` is from the server that is cut off to the leader. */
  readonly direction: LinkDirection;
  /** The server takes no new connections meanwhile. */
  readonly refuses: boolean;
  /** The session ends, so the shards have to move. */
  readonly moves: boolean;
}

/** One freeze, and what came of it. */
export interface Freeze {
  /** The session timeout. */
  readonly timeout: number;
  readonly manner: Manner;
  /** What the leader waits: D + margin. */
  readonly wait: number;
  /**
   * A sample from each group: from the last "yes" of the old holder to the first of the new one;
   * undefined if nothing moved.
   */
  readonly gaps: readonly (number | undefined)[];
}

export interface LaneOptions {
  readonly name: string;
  /** The session timeout of all its apps. */
  readonly timeout: number;
  readonly seed: number;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** They have sessions in common, but are planned for one by one, so each is a sample of its own. */
const GROUPS = 2;
const TOTAL = 4;
const TICK = 200;
const FORMATION = 60_000;
/** In ticks: servers bear with each other for longer than anything is frozen. */
const SYNC_LIMIT = 200;
/** What a busy machine takes on top. */
const SLACK = 3_000;

/** D + margin of the defaults. */
export const waitOf = (timeout: number): number => timeout / 2 + Math.max(500, timeout / 20);

/** Until the session is over and whoever led and held has been waited out; or long enough to see that it is not. */
const longestOf = (timeout: number, { moves }: Manner): number =>
  moves ? timeout + 2 * waitOf(timeout) + SLACK : timeout + waitOf(timeout);

/** One member beside the server that is cut off and one elsewhere. */
interface Pair {
  readonly near: Member;
  readonly far: Member;
}

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

/** An ensemble with apps of one session timeout, for one freeze after the other. */
export class FreezeLane {
  readonly #random: SeededRandom;
  readonly #pairs: Pair[] = [];

  private constructor(
    private readonly options: LaneOptions,
    private readonly cleanup: Cleanup,
    private readonly ensemble: ZooKeeperEnsemble,
    private readonly cutOff: ZooKeeperServer,
    /** The only one from the apps beside the server to it. */
    private readonly way: TcpProxy,
  ) {
    this.#random = new SeededRandom(options.seed);
  }

  static open(options: LaneOptions): Promise<FreezeLane> {
    return Cleanup.unlessOpened(async (cleanup) => {
      const timing = { tickTime: TICK, syncLimit: SYNC_LIMIT, startTimeout: FORMATION };
      const ensemble = cleanup.add(await ZooKeeperEnsemble.start({ links: true, ...timing }));
      const [cutOff] = await ensemble.followers();
      const way = cleanup.add(await TcpProxy.start({ target: cutOff!.port }));
      const lane = new FreezeLane(options, cleanup, ensemble, cutOff!, way);
      await lane.#gather();
      await lane.#settled();
      return lane;
    });
  }

  get timeout(): number {
    return this.options.timeout;
  }

  async close(): Promise<void> {
    await this.cleanup.close();
  }

  /** By what everyone answered and the hooks told. */
  judge(): Violation[] {
    return this.#pairs.flatMap(({ near, far }) =>
      check(merge([near.recording.events(false), far.recording.events(false)])),
    );
  }

  /** Freezes the link until everything has moved. Undefined if it was not to be any more. */
  async freeze(manner: Manner): Promise<Freeze | undefined> {
    const { timeout, signal } = this.options;
    const { cutOff, way } = this;
    const leader = await this.#leaderBeside();
    await this.#settled();
    // At any moment between two renewals of a lease, which come every D/4, and two pings.
    await passes(this.#random.below(timeout / 3), signal);
    if (signal.aborted) return undefined;
    const before = this.#pairs.map(({ near }) => near.items);
    const link = this.ensemble.link(cutOff, leader);
    const begun = now();
    link.freeze(manner.direction);
    if (manner.refuses) way.refuse();
    const hasMoved = (): boolean => this.#pairs.every(({ far }) => far.items.length === TOTAL);
    // That nothing has moved is counted by whoever reads the samples.
    await eventually(() => hasMoved() || signal.aborted, {
      timeout: longestOf(timeout, manner),
    }).catch(() => {});
    link.thaw();
    await way.restore();
    await this.#settled();
    const gaps = this.#pairs.map(({ near, far }, index) => {
      // What was held when it began, and what the other one has been given since.
      const former = near.recording.holdings.filter(
        ({ item, from, to }) => before[index]!.includes(item) && from < begun && to >= begun - 100,
      );
      return smallestGap(
        former,
        far.recording.holdings.filter(({ from }) => from >= begun),
      );
    });
    for (const { near, far } of this.#pairs) {
      near.process.forgetLines();
      far.process.forgetLines();
    }
    return { timeout, manner, wait: waitOf(timeout), gaps };
  }

  async #gather(): Promise<void> {
    const others = this.ensemble.members.filter((server) => server !== this.cutOff);
    const elsewhere = others.map(({ connect }) => connect).join(',');
    const namespaces = Array.from({ length: GROUPS }, () => uniqueNamespace('freeze'));
    const far = await this.#start('far', elsewhere, namespaces);
    const near = await this.#start('near', this.way.connect, namespaces);
    for (const [index, member] of near.members.entries()) {
      this.#pairs.push({ near: member, far: far.members[index]! });
    }
  }

  /** One process with an application for each group. */
  async #start(
    side: string,
    connect: string,
    namespaces: readonly string[],
  ): Promise<MemberProcess> {
    const { name, timeout: sessionTimeout, folder } = this.options;
    const common = { id: side, total: TOTAL, drainTimeout: 1_000 };
    const apps = namespaces.map((namespace, index): GroupConfig[] => [
      { who: `${side}-${name}-${index}`, namespace, ...common },
    ]);
    const process = await MemberProcess.start({ connect, sessionTimeout, apps });
    this.cleanup.add({ close: async () => void (await process.end('SIGKILL')) });
    keepLines(process, join(folder, `${side}-${name}.log`));
    await process.loaded(FORMATION);
    process.go();
    return process;
  }

  /** The server that is cut off must not be the one that leads. */
  async #leaderBeside(): Promise<ZooKeeperServer> {
    const { ensemble, cutOff } = this;
    await ensemble.ready();
    const leader = await ensemble.leader();
    if (leader !== cutOff) return leader;
    await cutOff.kill();
    const next = await ensemble.leader();
    await cutOff.start();
    await ensemble.ready();
    return next;
  }

  async #settled(): Promise<void> {
    const assertAll = (since: number): void => {
      for (const { near, far } of this.#pairs) assertSettled([near, far], since, TOTAL);
    };
    await staysSettled(assertAll, { timeout: FORMATION, label: 'all groups settled' });
  }
}
