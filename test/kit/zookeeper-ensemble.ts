import { eventually } from './eventually.js';
import { freePorts, LOOPBACK } from './free-port.js';
import { TcpProxy } from './tcp-proxy.js';
import { locateZooKeeper } from './zookeeper-installation.js';
import {
  ZooKeeperServer,
  type ServerMode,
  type ZooKeeperServerOptions,
} from './zookeeper-server.js';

export interface ZooKeeperEnsembleOptions extends ZooKeeperServerOptions {
  /** @default 3 */
  size?: number;
  /** Ticks in which a follower must have connected to its leader. @default 50 */
  initLimit?: number;
  /** Ticks after which a follower and a leader give up each other's silence. @default 10 */
  syncLimit?: number;
  /** Leads the traffic between the servers through proxies, so that `link` can disturb it. @default false */
  links?: boolean;
}

/** The traffic between two servers `a` and `b`: elections, and what a leader and its follower exchange. */
export interface Link {
  /** Holds the bytes from a to b (`forth`), from b to a (`back`), or all. */
  freeze(direction?: LinkDirection): void;
  thaw(direction?: LinkDirection): void;
  /** Drops the connections and refuses new ones. */
  cut(): Promise<void>;
  /** Undoes `freeze` and `cut`. */
  restore(): Promise<void>;
}

export type LinkDirection = 'both' | 'forth' | 'back';

interface Ports {
  readonly client: number;
  readonly quorum: number;
  readonly election: number;
}

const ATTEMPTS = 3;

/** Several servers, each a process of its own, that elect a leader. */
export class ZooKeeperEnsemble {
  private constructor(
    readonly members: readonly ZooKeeperServer[],
    private readonly roads: Roads | undefined,
    private readonly startTimeout: number,
  ) {}

  static async start(options: ZooKeeperEnsembleOptions = {}): Promise<ZooKeeperEnsemble> {
    const installation = options.installation ?? (await locateZooKeeper());
    for (let attempt = 1; ; attempt += 1) {
      const ensemble = await ZooKeeperEnsemble.prepare({ ...options, installation });
      try {
        await Promise.all(ensemble.members.map((member) => member.launch()));
        await ensemble.ready();
        return ensemble;
      } catch (error) {
        const lost = await Promise.all(ensemble.members.map((member) => member.lostItsPort()));
        await ensemble.close();
        if (!lost.includes(true) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  private static async prepare(options: ZooKeeperEnsembleOptions): Promise<ZooKeeperEnsemble> {
    const {
      size = 3,
      initLimit = 50,
      syncLimit = 10,
      links = false,
      startTimeout = 30_000,
    } = options;
    const free = await freePorts(3 * size);
    const ports = Array.from({ length: size }, (_, index): Ports => {
      const [client, quorum, election] = free.slice(3 * index, 3 * index + 3) as [
        number,
        number,
        number,
      ];
      return { client, quorum, election };
    });
    const roads = links ? await Roads.build(ports) : undefined;
    const members = await Promise.all(
      ports.map((own, index) => {
        const settings: Record<string, string | number> = {
          ...{ initLimit, syncLimit, standaloneEnabled: 'false' },
          ...options.settings,
        };
        // Each server reads the addresses of the others from a file of its own, so each may have its own view.
        ports.forEach((peer, at) => {
          const { quorum, election } = (at === index ? undefined : roads?.from(index, at)) ?? peer;
          settings[`server.${at + 1}`] =
            `${LOOPBACK}:${quorum}:${election};${LOOPBACK}:${peer.client}`;
        });
        return ZooKeeperServer.prepare(
          { ...options, settings },
          { id: index + 1, clientPort: own.client },
        );
      }),
    );
    return new ZooKeeperEnsemble(members, roads, startTimeout);
  }

  /** The connect string with all members. A single one's is `member.connect`. */
  get connect(): string {
    return this.members.map(({ connect }) => connect).join(',');
  }

  /** The members that are neither down nor frozen. */
  get active(): ZooKeeperServer[] {
    return this.members.filter(({ running, frozen }) => running && !frozen);
  }

  /** Waits until one of the active members leads and all others follow in sync. */
  async ready(timeout = this.startTimeout): Promise<void> {
    await eventually(() => this.inSync(), {
      timeout,
      label: 'ensemble with a leader',
      interval: 50,
    }).catch(async (error: Error) => {
      const logs = await Promise.all(this.members.map((member) => member.log()));
      const tails = logs.map((log, index) => `server ${index + 1}:\n${log.slice(-2_000)}`);
      throw new Error([error.message, ...tails].join('\n'), { cause: error });
    });
  }

  /**
   * Waits until the active members have found each other again. Those that lost each other may wait for
   * ever, each for the other's call, which is no failure of what is tested: they are started anew, one
   * after the other.
   * @returns whether that was necessary
   */
  async reunite(patience = 10_000): Promise<boolean> {
    if (await this.isReady(patience)) return false;
    for (const member of this.members) {
      await member.kill();
      await member.launch();
      if (await this.isReady(this.startTimeout)) return true;
    }
    await this.ready();
    return true;
  }

  /** The leader, as soon as there is exactly one among the active members. */
  async leader(timeout = this.startTimeout): Promise<ZooKeeperServer> {
    return eventually(
      async () => {
        const leaders = await this.inMode('leader');
        if (leaders.length !== 1) throw new Error(`${leaders.length} members claim to lead`);
        return leaders[0] as ZooKeeperServer;
      },
      { timeout, label: 'a leader' },
    );
  }

  /** The active members that follow at the moment. */
  async followers(): Promise<ZooKeeperServer[]> {
    return this.inMode('follower');
  }

  /** The traffic between two members; only with the option `links`. */
  link(a: ZooKeeperServer, b: ZooKeeperServer): Link {
    if (this.roads === undefined) {
      throw new Error(
        'Start the ensemble with { links: true } to disturb the traffic between members.',
      );
    }
    return this.roads.link(a.id - 1, b.id - 1);
  }

  /** Ends all members and removes their files. */
  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.close()));
    await this.roads?.close();
  }

  private isReady(timeout: number): Promise<boolean> {
    return this.ready(timeout).then(
      () => true,
      () => false,
    );
  }

  private async inMode(wanted: ServerMode): Promise<ZooKeeperServer[]> {
    const active = this.active;
    const modes = await Promise.all(active.map((member) => member.mode()));
    return active.filter((_, index) => modes[index] === wanted);
  }

  private async inSync(): Promise<void> {
    const [leaders, followers] = await Promise.all([
      this.inMode('leader'),
      this.inMode('follower'),
    ]);
    const [leader] = leaders;
    if (leader === undefined || leaders.length + followers.length !== this.active.length) {
      const ids = (servers: ZooKeeperServer[]) => servers.map(({ id }) => id).join(', ');
      throw new Error(`${ids(leaders)} lead and ${ids(followers)} follow of ${ids(this.active)}`);
    }
    const synced = /^zk_synced_followers\t(\d+)/m.exec(await leader.fourLetter('mntr'))?.[1];
    if (Number(synced) < followers.length) throw new Error(`${synced} followers are in sync`);
  }
}

/** Proxies for each ordered pair of servers: the way from one to another's quorum and election ports. */
class Roads {
  private constructor(
    private readonly roads: ReadonlyMap<string, { quorum: TcpProxy; election: TcpProxy }>,
  ) {}

  static async build(ports: readonly Ports[]): Promise<Roads> {
    const roads = new Map<string, { quorum: TcpProxy; election: TcpProxy }>();
    for (const [from, own] of ports.entries()) {
      for (const [to, peer] of ports.entries()) {
        if (from === to) continue;
        // A new leader is often called before it listens. Refused, a follower calls again at once; cut off
        // after it was accepted, it would vote again, while the leader waits for it until initLimit.
        const quorum = await TcpProxy.start({ target: peer.quorum, patience: 1_000 });
        // A server that calls one with a higher number is called back, at the address which it says is
        // its own: that must be the proxy of the way back.
        const rewriteUp = (chunk: Buffer): Buffer =>
          replaced(chunk, own.election, roads.get(`${to} ${from}`)?.election.port);
        const election = await TcpProxy.start({ target: peer.election, rewriteUp });
        roads.set(`${from} ${to}`, { quorum, election });
      }
    }
    return new Roads(roads);
  }

  from(from: number, to: number): { quorum: number; election: number } {
    const { quorum, election } = this.pair(from, to);
    return { quorum: quorum.port, election: election.port };
  }

  link(a: number, b: number): Link {
    const [there, back] = [this.pair(a, b), this.pair(b, a)];
    const forth = [there.quorum.up, there.election.up, back.quorum.down, back.election.down];
    const backward = [there.quorum.down, there.election.down, back.quorum.up, back.election.up];
    const lanes = { both: [...forth, ...backward], forth, back: backward };
    const proxies = [there, back].flatMap(({ quorum, election }) => [quorum, election]);
    const thaw = (direction: LinkDirection = 'both') =>
      lanes[direction].forEach((lane) => lane.thaw());
    return {
      freeze: (direction = 'both') => lanes[direction].forEach((lane) => lane.freeze()),
      thaw,
      cut: async () => void (await Promise.all(proxies.map((proxy) => proxy.cut()))),
      restore: async () => {
        thaw();
        await Promise.all(proxies.map((proxy) => proxy.restore()));
      },
    };
  }

  async close(): Promise<void> {
    const all = [...this.roads.values()].flatMap(({ quorum, election }) => [quorum, election]);
    await Promise.all(all.map((proxy) => proxy.close()));
  }

  private pair(from: number, to: number): { quorum: TcpProxy; election: TcpProxy } {
    const road = this.roads.get(`${from} ${to}`);
    if (road === undefined)
      throw new Error(`There is no link from server ${from + 1} to ${to + 1}.`);
    return road;
  }
}

/** Exchanges an address in the bytes for another one of the same length (all our ports have five digits). */
function replaced(chunk: Buffer, port: number, other: number | undefined): Buffer {
  const at = chunk.indexOf(`${LOOPBACK}:${port}`);
  if (at < 0 || other === undefined) return chunk;
  const copy = Buffer.from(chunk);
  copy.write(`${LOOPBACK}:${other}`, at);
  return copy;
}
