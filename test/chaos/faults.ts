import { passes } from '../e2e/passes.js';
import type { SeededRandom } from '../kit/seeded-random.js';
import type { LinkDirection } from '../kit/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../kit/zookeeper-server.js';
import type { Slot } from './crowd.js';
import type { Scene } from './scene.js';
import { fillDisk } from './slow-disk.js';

/** One fault that is about to happen: to whom, for how long, how it begins and how it is undone. */
export interface Trouble {
  readonly victims: string;
  /** Whom no other fault may have meanwhile. */
  readonly slots?: readonly Slot[];
  readonly takesServer?: boolean;
  readonly takesTotal?: boolean;
  /** Milliseconds between begin and end. */
  readonly lasts: number;
  begin(): Promise<unknown> | void;
  end(): Promise<unknown> | void;
}

export interface Fault {
  readonly name: string;
  /** How often it is drawn in relation to the others. */
  readonly weight: number;
  /** Undefined if it cannot happen as things are at the moment. */
  draw(scene: Scene, random: SeededRandom): Trouble | undefined;
}

const TOTALS = [6, 9, 12, 16];
const MOST_APPS = 8;
const FEWEST_APPS = 5;
/** So many are left alone, whatever happens to the others. */
const SPARED = 2;
/** What a leader waits beyond the lease of whoever is gone. */
const MARGIN = 500;

const between = (random: SeededRandom, from: number, to: number): number =>
  from + random.below(Math.max(1, to - from));

const named = (slots: readonly Slot[]): string =>
  slots.map(({ name, app }) => app?.who ?? name).join(', ');

function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: random.fraction() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

type Choice = (slot: Slot) => boolean;
const anyone: Choice = () => true;
const leads: Choice = ({ app }) => app?.leads === true;
const holds: Choice = ({ app }) => app?.leads === false && app.items.length > 0;

function victimsOf(
  { crowd }: Scene,
  random: SeededRandom,
  count: number,
  choice: Choice,
): Slot[] | undefined {
  const { free } = crowd;
  const victims = shuffled(random, free.filter(choice)).slice(0, count);
  return victims.length === count && free.length - count >= SPARED ? victims : undefined;
}

/** Something that happens to one app and is undone. */
function ofApp(
  name: string,
  weight: number,
  choice: Choice,
  make: (
    slot: Slot,
    random: SeededRandom,
    scene: Scene,
  ) => Pick<Trouble, 'lasts' | 'begin' | 'end'>,
): Fault {
  return {
    name,
    weight,
    draw(scene, random) {
      const slots = victimsOf(scene, random, 1, choice);
      return slots && { victims: named(slots), slots, ...make(slots[0]!, random, scene) };
    },
  };
}

function kill(name: string, weight: number, many: number, choice: Choice): Fault {
  return {
    name,
    weight,
    draw(scene, random) {
      const slots = victimsOf(scene, random, many === 1 ? 1 : between(random, 2, many + 1), choice);
      return (
        slots && {
          victims: named(slots),
          slots,
          lasts: between(random, 0, 3_000),
          begin: () => Promise.all(slots.map((slot) => scene.crowd.kill(slot))),
          end: () => Promise.all(slots.map((slot) => scene.crowd.start(slot, random))),
        }
      );
    },
  };
}

/** SIGSTOP and SIGCONT; whether the time passes the lease or the session depends on the app. */
function stop(
  name: string,
  weight: number,
  choice: Choice,
  lasts: (sessionTimeout: number, random: SeededRandom) => number,
): Fault {
  return ofApp(name, weight, choice, ({ app, sessionTimeout }, random) => ({
    lasts: lasts(sessionTimeout, random),
    begin: () => app!.freeze(),
    end: () => app!.resume(),
  }));
}

const pastLease = (T: number, random: SeededRandom): number => between(random, 0.55 * T, 0.85 * T);
const pastSession = (T: number, random: SeededRandom): number =>
  between(random, 1.2 * T, 1.8 * T + MARGIN + 2_000);

/** The way of one app to all servers. */
function wayOf(
  name: string,
  weight: number,
  lasts: (sessionTimeout: number, random: SeededRandom) => number,
  begin: (way: Slot['ways'][number]) => Promise<void> | void,
  end: (way: Slot['ways'][number]) => Promise<void> | void,
): Fault {
  return ofApp(name, weight, anyone, ({ ways, sessionTimeout }, random) => ({
    lasts: lasts(sessionTimeout, random),
    begin: () => Promise.all(ways.map(async (way) => begin(way))),
    end: () => Promise.all(ways.map(async (way) => end(way))),
  }));
}

type ServerTrouble = Pick<Trouble, 'lasts' | 'begin' | 'end'>;

/** Something that happens to one server; in the end all of them are one ensemble again. */
function ofServer(
  name: string,
  weight: number,
  make: (server: ZooKeeperServer, random: SeededRandom, scene: Scene) => ServerTrouble | undefined,
): Fault {
  return {
    name,
    weight,
    draw(scene, random) {
      if (scene.isServerTaken) return undefined;
      const server = random.pick(scene.ensemble.members);
      const trouble = make(server, random, scene);
      if (!trouble) return undefined;
      const end = async (): Promise<void> => {
        await trouble.end();
        await scene.heal();
      };
      return { victims: `server ${server.id}`, takesServer: true, ...trouble, end };
    },
  };
}

function cutOff(name: string, weight: number, directions: readonly LinkDirection[]): Fault {
  return ofServer(name, weight, (server, random, { ensemble }) => {
    const others = ensemble.members.filter((other) => other !== server);
    const links = others.map((other) => ensemble.link(server, other));
    const direction = random.pick(directions);
    return {
      lasts: between(random, 500, 6_500),
      begin: () => links.forEach((link) => link.freeze(direction)),
      end: () => links.forEach((link) => link.thaw()),
    };
  });
}

/** Whoever leads when it happens: before that nobody knows. */
function ofLeadingServer(
  name: string,
  weight: number,
  lasts: readonly [number, number],
  begin: (server: ZooKeeperServer) => Promise<void>,
  end: (server: ZooKeeperServer) => Promise<void> | void,
): Fault {
  return ofServer(name, weight, (_server, random, { ensemble }) => {
    let leader: ZooKeeperServer | undefined;
    return {
      lasts: between(random, ...lasts),
      begin: async () => {
        leader = await ensemble.leader();
        await begin(leader);
      },
      end: () => leader && end(leader),
    };
  });
}

async function rollingDeploy(scene: Scene, slots: readonly Slot[], random: SeededRandom) {
  const { crowd } = scene;
  for (const slot of slots) {
    const go = await crowd.prepare(slot, random);
    await crowd.leave(slot);
    go();
    // Some wait until the new one works, others are in a hurry.
    if (random.below(2) === 0) await passes(between(random, 0, 500));
  }
}

async function rollingRestart({ ensemble }: Scene, random: SeededRandom): Promise<void> {
  for (const server of shuffled(random, ensemble.members)) {
    await server.stop();
    await server.launch();
    await ensemble.ready(15_000).catch(() => {});
  }
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'rolling deploy of all apps',
    weight: 2,
    draw(scene, random) {
      const slots = shuffled(random, scene.crowd.free);
      if (slots.length < 3) return undefined;
      return {
        victims: named(slots),
        slots,
        lasts: 0,
        begin: () => rollingDeploy(scene, slots, random),
        end: () => {},
      };
    },
  },
  kill('kill -9 of a holder', 6, 1, holds),
  kill('kill -9 of the leader', 4, 1, leads),
  kill('kill -9 of several', 3, 3, anyone),
  stop('app stopped past its lease', 5, holds, pastLease),
  stop('app stopped past its session', 5, holds, pastSession),
  stop('leading app stopped past its lease', 2, leads, pastLease),
  stop('leading app stopped past its session', 2, leads, pastSession),
  {
    name: 'app joins',
    weight: 6,
    draw(scene, random) {
      const slot = scene.crowd.slots.find(({ app, isTaken }) => !app && !isTaken);
      if (!slot || scene.crowd.running.length >= MOST_APPS) return undefined;
      const begin = () => scene.crowd.start(slot, random);
      return { victims: slot.name, slots: [slot], lasts: 0, begin, end: () => {} };
    },
  },
  {
    name: 'app leaves',
    weight: 6,
    draw(scene, random) {
      const slots = victimsOf(scene, random, 1, anyone);
      if (!slots || scene.crowd.running.length <= FEWEST_APPS) return undefined;
      const begin = () => scene.crowd.leave(slots[0]!);
      return { victims: named(slots), slots, lasts: 0, begin, end: () => {} };
    },
  },
  // Seen gone while its lease still runs: the one case in which the next owner has to wait for its end.
  ofApp('registration of an app deleted', 4, holds, ({ app }, _random, scene) => ({
    lasts: 0,
    begin: () => scene.removeRegistration(app!.id!),
    end: () => {},
  })),
  {
    name: 'total changed',
    weight: 4,
    draw(scene, random) {
      if (scene.isTotalTaken) return undefined;
      const total = random.pick(TOTALS.filter((other) => other !== scene.total));
      const begin = () => scene.setTotal(total);
      return { victims: `to ${total}`, takesTotal: true, lasts: 0, begin, end: () => {} };
    },
  },
  wayOf(
    'connection of an app dropped',
    5,
    () => 0,
    (way) => way.disconnect(),
    () => {},
  ),
  wayOf(
    'app cut off past its lease',
    4,
    pastLease,
    (way) => way.cut(),
    (way) => way.restore(),
  ),
  wayOf(
    'app cut off past its session',
    3,
    pastSession,
    (way) => way.cut(),
    (way) => way.restore(),
  ),
  wayOf(
    'requests of an app held up',
    3,
    pastSession,
    (way) => way.up.freeze(),
    (way) => way.up.thaw(),
  ),
  wayOf(
    'answers to an app held up',
    3,
    pastSession,
    (way) => way.down.freeze(),
    (way) => way.down.thaw(),
  ),
  wayOf(
    'slow network of an app',
    3,
    (T) => T,
    (way) => {
      way.up.delay(80);
      way.down.delay(80);
    },
    (way) => {
      way.up.delay(0);
      way.down.delay(0);
    },
  ),
  {
    name: 'apps moved off a server',
    weight: 4,
    draw({ crowd }, random) {
      const at = random.below(3);
      const port = crowd.slots[0]!.ways[at]!.targetPort;
      const slots = crowd.free;
      if (slots.length === 0) return undefined;
      const ways = slots
        .flatMap((slot) => slot.ways)
        .filter(({ targetPort }) => targetPort === port);
      return {
        victims: `port ${port}`,
        // Another one's cut of the same way would end with this one.
        slots,
        lasts: between(random, 300, 2_000),
        begin: () => Promise.all(ways.map((way) => way.cut())),
        end: () => Promise.all(ways.map((way) => way.restore())),
      };
    },
  },
  ofServer('server killed', 4, (server, random) => ({
    lasts: between(random, 0, 2_500),
    begin: () => server.kill(),
    end: () => server.launch(),
  })),
  ofLeadingServer(
    "ZooKeeper's leader killed",
    4,
    [0, 2_500],
    (server) => server.kill(),
    (server) => server.launch(),
  ),
  ofServer('server stopped', 4, (server, random) => ({
    lasts: between(random, 300, 5_000),
    begin: () => server.freeze(),
    end: () => server.resume(),
  })),
  ofLeadingServer(
    "ZooKeeper's leader stopped",
    3,
    [300, 5_000],
    (server) => server.freeze(),
    (server) => server.resume(),
  ),
  cutOff('server cut off from the others', 4, ['both']),
  cutOff('server cut off in one direction', 5, ['forth', 'back']),
  ofServer('two servers stopped', 2, (server, random, { ensemble }) => {
    const victims = ensemble.members.filter((other) => other !== server);
    return {
      lasts: between(random, 300, 4_500),
      begin: () => Promise.all(victims.map((victim) => victim.freeze())),
      end: () => victims.forEach((victim) => victim.resume()),
    };
  }),
  ofServer('rolling restart of ZooKeeper', 1, (_server, random, scene) => ({
    lasts: 0,
    begin: () => rollingRestart(scene, random),
    end: () => {},
  })),
  ofServer('slow disk of a server', 3, (server, random, { disk }) =>
    disk
      ? {
          lasts: between(random, 1_000, 5_000),
          begin: () => disk.slow(server, between(random, 100, 1_500)),
          end: () => disk.fast(server),
        }
      : undefined,
  ),
  ofServer('full disk of a server', 2, (server, random, { disk }) =>
    disk
      ? {
          lasts: between(random, 300, 2_500),
          begin: () => fillDisk(server),
          end: async () => {
            await server.kill();
            await server.launch();
          },
        }
      : undefined,
  ),
];
