/**
 * A bad night of an ensemble: servers are killed and frozen at random while several clients work and
 * watch. `npm run soak:registry -- --minutes 2 --seed 1`; ends by itself, with 1 if anything is amiss.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { silentLog, systemEnvironment } from '../../lib/registry/environment.js';
import type { OperationOptions, Registry, SessionState } from '../../lib/registry/registry.js';
import { ANY_VERSION } from '../../lib/registry/registry.js';
import { registryErrorCode } from '../../lib/registry/registry.errors.js';
import { SureWrites } from '../../lib/registry/sure-writes.js';
import { ZooKeeperRegistry } from '../../lib/registry/zookeeper/index.js';
import { eventually } from '../kit/eventually.js';
import { ClientRoad } from '../kit/client-road.js';
import { SeededRandom } from '../kit/seeded-random.js';
import { ZooKeeperEnsemble } from '../kit/zookeeper-ensemble.js';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const duration = Number(options.minutes) * 60_000;
const seed = Number(options.seed);

const CLIENTS = 4;
const NODES = 8;
const SESSION_TIMEOUT = 4_000;
const OPERATION_TIMEOUT = 5_000;
/** What an operation may take beyond its deadline on a busy machine. */
const GRACE = 2_000;
/** When memory is measured for the first time. */
const WARM_UP = 30_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const random = new SeededRandom(seed);
const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, milliseconds));

/** Everything that the run has to say for itself at the end. */
const report = {
  operations: 0,
  outcomes: new Map<string, number>(),
  longest: 0,
  faults: new Map<string, number>(),
  states: new Map<SessionState, number>(),
  emissions: 0,
  problems: [] as string[],
};
const pending = new Set<{ readonly label: string; readonly started: number }>();

const count = <K>(map: Map<K, number>, key: K): void => void map.set(key, (map.get(key) ?? 0) + 1);

process.on('unhandledRejection', (reason) => {
  report.problems.push(`unhandled rejection: ${String(reason)}`);
});

async function track(label: string, operation: Promise<unknown>): Promise<boolean> {
  const entry = { label, started: performance.now() };
  pending.add(entry);
  let outcome = 'ok';
  try {
    await operation;
  } catch (error) {
    const code = registryErrorCode(error);
    if (code === undefined) report.problems.push(`${label}: ${String(error)}`);
    outcome = code ?? 'unknown error';
  }
  pending.delete(entry);
  const took = performance.now() - entry.started;
  report.operations += 1;
  report.longest = Math.max(report.longest, took);
  count(report.outcomes, outcome);
  if (took > OPERATION_TIMEOUT + GRACE)
    report.problems.push(`${label} took ${Math.round(took)} ms`);
  return outcome === 'ok';
}

/** One client at work: plain operations, a counter that must not miss a beat, and views of all nodes. */
class Worker {
  readonly registry: Registry;
  readonly #sure: SureWrites;
  readonly #versions: number[] = Array.from({ length: NODES }, () => -1);
  #count = 0;

  constructor(
    readonly name: string,
    connect: string,
  ) {
    const environment = systemEnvironment(silentLog);
    this.registry = new ZooKeeperRegistry(
      { connect, sessionTimeout: SESSION_TIMEOUT },
      environment,
    );
    this.#sure = new SureWrites(this.registry, environment);
  }

  get counter(): string {
    return `/soak/counter-${this.name}`;
  }

  async open(): Promise<void> {
    await this.registry.connect();
    this.registry.session$.subscribe(({ state }) => count(report.states, state));
    for (let node = 0; node < NODES; node += 1) {
      this.registry.watch(`/soak/node-${node}`).subscribe((snapshot) => {
        report.emissions += 1;
        const version = snapshot?.stat.version ?? -1;
        if (version <= this.#versions[node]!) {
          report.problems.push(
            `${this.name}: node ${node} from ${this.#versions[node]} to ${version}`,
          );
        }
        this.#versions[node] = version;
      });
    }
    this.registry.watchChildren('/soak').subscribe(() => (report.emissions += 1));
    await this.registry.create(this.counter, Buffer.from('start'));
  }

  async work(until: number): Promise<void> {
    await Promise.all([this.#operate(until), this.#operate(until), this.#countUp(until)]);
  }

  async #operate(until: number): Promise<void> {
    const limits: OperationOptions = { timeout: OPERATION_TIMEOUT };
    while (performance.now() < until) {
      const path = `/soak/node-${random.below(NODES)}`;
      const data = Buffer.from(random.hex(random.below(2_000)));
      const [label, run] = random.pick<[string, () => Promise<unknown>]>([
        ['get', () => this.registry.get(path, limits)],
        ['set', () => this.registry.set(path, data, ANY_VERSION, limits)],
        ['exists', () => this.registry.exists(path, limits)],
        ['children', () => this.registry.children('/soak', limits)],
        ['sync', () => this.registry.sync(path, limits)],
        ['ephemeral', () => this.#createAndDelete(data, limits)],
      ]);
      await track(`${this.name} ${label} ${path}`, run());
      await sleep(random.below(20));
    }
  }

  async #createAndDelete(data: Buffer, limits: OperationOptions): Promise<void> {
    const half = { timeout: OPERATION_TIMEOUT / 2 };
    const path = await this.registry.create('/soak/e-', data, {
      ...half,
      mode: 'ephemeral-sequential',
    });
    await this.registry.delete(path, 0, { ...limits, ...half });
  }

  /** Each step exactly once: a lost answer must neither skip nor repeat one. */
  async #countUp(until: number): Promise<void> {
    while (performance.now() < until) {
      const data = Buffer.from(`${this.name}-${random.uuid()}`);
      try {
        const { version } = await this.#sure.set(this.counter, data, this.#count);
        this.#count += 1;
        if (version !== this.#count)
          throw new Error(`${this.#count}, and the store has ${version}`);
      } catch (error) {
        report.problems.push(`${this.name} counting: ${String(error)}`);
      }
      await sleep(50);
    }
  }

  /** In the end every view shows what there is, and the counter what was counted. */
  async check(): Promise<void> {
    await eventually(
      async () => {
        await this.registry.sync('/soak', { timeout: 2_000 });
        for (let node = 0; node < NODES; node += 1) {
          const { version } = (await this.registry.get(`/soak/node-${node}`, { timeout: 2_000 }))
            .stat;
          if (this.#versions[node] !== version) {
            throw new Error(
              `${this.name} shows ${this.#versions[node]} of node ${node}: ${version}`,
            );
          }
        }
        const { version } = (await this.registry.get(this.counter, { timeout: 2_000 })).stat;
        if (version !== this.#count)
          throw new Error(`${this.name} counted ${this.#count}: ${version}`);
      },
      { timeout: 20_000 },
    ).catch((error: unknown) => report.problems.push(String(error)));
  }
}

/** Kills and freezes one server after the other, mostly one at a time, and makes them well again. */
async function disturb(ensemble: ZooKeeperEnsemble, until: number): Promise<void> {
  while (performance.now() < until) {
    const victims = random.below(5) === 0 ? 2 : 1;
    const servers = [...ensemble.members].toSorted(() => random.fraction() - 0.5).slice(0, victims);
    const fault = random.pick(['kill', 'freeze', 'stop']);
    count(report.faults, victims === 2 ? `${fault} two` : fault);
    await Promise.all(servers.map((server) => server[fault as 'kill' | 'freeze' | 'stop']()));
    await sleep(500 + random.below(5_000));
    for (const server of servers) server.resume();
    await Promise.all(servers.map((server) => server.start()));
    await sleep(500 + random.below(2_000));
  }
}

/** Does the same to one client's way to the servers, for so long that it loses sessions. */
async function disturbRoad(road: ClientRoad, until: number): Promise<void> {
  while (performance.now() < until) {
    await sleep(2_000 + random.below(6_000));
    const fault = random.pick(['cut', 'freeze'] as const);
    count(report.faults, `${fault} link`);
    await road[fault]();
    await sleep(random.below(2 * SESSION_TIMEOUT));
    await road.heal();
  }
}

function residentMegabytes(): number {
  collectGarbage();
  return process.memoryUsage().rss / 2 ** 20;
}

const list = <K>(map: Map<K, number>): string =>
  [...map].map(([key, times]) => `${String(key)} ${times}`).join(', ') || 'none';

console.log(
  `soak: ${options.minutes} min, seed ${seed}, ${CLIENTS} clients on an ensemble of three`,
);
const ensemble = await ZooKeeperEnsemble.start({ tickTime: 200 });
const road = await ClientRoad.build(ensemble.members);
const workers = Array.from(
  { length: CLIENTS },
  (_, index) => new Worker(`c${index}`, index === 0 ? road.connect : ensemble.connect),
);
const [first] = workers;
await first!.registry.connect();
for (let node = 0; node < NODES; node += 1) {
  await first!.registry.create(`/soak/node-${node}`, Buffer.from('0'), { parents: true });
}
await Promise.all(workers.map((worker) => worker.open()));

const loop = monitorEventLoopDelay({ resolution: 10 });
loop.enable();
const started = performance.now();
const until = started + duration;
let early: number | undefined;
setTimeout(() => (early = residentMegabytes()), WARM_UP);
const progress = setInterval(() => {
  const seconds = Math.round((performance.now() - started) / 1_000);
  const states = workers.map(({ registry }) => registry.session.state).join(' ');
  console.log(
    `${seconds} s: ${report.operations} operations (${list(report.outcomes)}), ` +
      `${report.emissions} emissions, faults: ${list(report.faults)}, ${states}, ` +
      `${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`,
  );
}, 10_000);

await Promise.all([
  disturb(ensemble, until),
  disturbRoad(road, until),
  ...workers.map((worker) => worker.work(until)),
]);
clearInterval(progress);
await ensemble.ready();
await Promise.all(workers.map((worker) => worker.check()));
const late = residentMegabytes();
loop.disable();
for (const { label, started: since } of pending) {
  report.problems.push(
    `${label} is still under way after ${Math.round(performance.now() - since)} ms`,
  );
}
await Promise.all(workers.map(({ registry }) => registry.close()));
await road.close();
await ensemble.close();

const growth = early === undefined ? NaN : (late / early - 1) * 100;
// A run that ends before, or soon after, the first measurement says nothing about memory.
if (duration >= 2 * WARM_UP && !(growth <= 10))
  report.problems.push(`memory grew by ${growth.toFixed(1)} %`);
console.log(`operations  ${report.operations}: ${list(report.outcomes)}`);
console.log(`longest     ${Math.round(report.longest)} ms`);
console.log(`faults      ${list(report.faults)}`);
console.log(`sessions    ${list(report.states)}`);
console.log(`views       ${report.emissions} emissions`);
console.log(`event loop  blocked for ${Math.round(loop.max / 1e6)} ms at most`);
console.log(
  `memory      ${early?.toFixed(1)} MB after ${WARM_UP / 1_000} s, ${late.toFixed(1)} MB at the end ` +
    `(${growth.toFixed(1)} %)`,
);
for (const problem of report.problems.slice(0, 20)) console.log(`PROBLEM     ${problem}`);
console.log(report.problems.length === 0 ? 'all well' : `${report.problems.length} problems`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
