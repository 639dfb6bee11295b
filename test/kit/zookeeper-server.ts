import { once } from 'node:events';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort, listen, LOOPBACK } from './free-port.js';
import { GuardedProcess } from './guarded-process.js';
import { temporaryFolder, type TemporaryFolder } from './reaper.js';
import { locateZooKeeper, type ZooKeeperInstallation } from './zookeeper-installation.js';

export interface ZooKeeperServerOptions {
  /** ZooKeeper's unit of time in milliseconds: a session lives two of them at least. @default 200 */
  tickTime?: number;
  /** @default 2 ticks */
  minSessionTimeout?: number;
  /** Longer than ZooKeeper's own 20 ticks, so that a client is given what it asks for. @default 60000 */
  maxSessionTimeout?: number;
  /** Milliseconds in which a server must answer after its start. @default 30000 */
  startTimeout?: number;
  /** Further lines for its zoo.cfg. */
  settings?: Record<string, string | number>;
  /** Further arguments for Java. */
  javaArguments?: readonly string[];
  /** Added to this process's environment. */
  env?: Record<string, string>;
  /** Found by itself if not given. */
  installation?: ZooKeeperInstallation;
}

/** What a server in an ensemble is told beside the options. */
export interface MemberOptions {
  readonly id: number;
  readonly clientPort: number;
}

export type ServerMode = 'standalone' | 'leader' | 'follower' | 'observer';

const PORT_ATTEMPTS = 5;

/**
 * One private ZooKeeper server, a process of its own on 127.0.0.1 with its data in a temporary folder.
 * The port and the data stay the same when it is stopped, killed and started again.
 */
export class ZooKeeperServer {
  private process: GuardedProcess | undefined;
  private isFrozen = false;

  private constructor(
    /** The number in an ensemble, 1 for a server that stands alone. */
    readonly id: number,
    readonly port: number,
    private readonly folder: TemporaryFolder,
    private readonly installation: ZooKeeperInstallation,
    private readonly options: ZooKeeperServerOptions,
  ) {}

  /** Starts one server, ready to serve. */
  static async start(options: ZooKeeperServerOptions = {}): Promise<ZooKeeperServer> {
    const installation = options.installation ?? (await locateZooKeeper());
    for (let attempt = 1; ; attempt += 1) {
      const clientPort = await freePort();
      const settings = { clientPort, clientPortAddress: LOOPBACK, ...options.settings };
      const server = await ZooKeeperServer.prepare(
        { ...options, settings, installation },
        { id: 1, clientPort },
      );
      try {
        await server.start();
        return server;
      } catch (error) {
        const conflict = await server.lostItsPort();
        await server.close();
        if (!conflict || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** Writes the configuration of a server without starting it. */
  static async prepare(
    options: ZooKeeperServerOptions,
    { id, clientPort }: MemberOptions,
  ): Promise<ZooKeeperServer> {
    const { tickTime = 200 } = options;
    const installation = options.installation ?? (await locateZooKeeper());
    const folder = await temporaryFolder('nds-zookeeper-');
    const settings = {
      tickTime,
      dataDir: join(folder.path, 'data'),
      minSessionTimeout: options.minSessionTimeout ?? 2 * tickTime,
      maxSessionTimeout: options.maxSessionTimeout ?? 60_000,
      maxClientCnxns: 0,
      'admin.enableServer': 'false',
      '4lw.commands.whitelist': '*',
      ...options.settings,
    };
    await mkdir(settings.dataDir);
    await writeFile(join(settings.dataDir, 'myid'), `${id}\n`);
    await writeFile(join(folder.path, 'zoo.cfg'), toLines(settings));
    await writeFile(join(folder.path, 'logback.xml'), LOGBACK);
    return new ZooKeeperServer(id, clientPort, folder, installation, options);
  }

  /** The connect string for clients. */
  get connect(): string {
    return `${LOOPBACK}:${this.port}`;
  }

  get pid(): number | undefined {
    return this.running ? this.process?.pid : undefined;
  }

  get running(): boolean {
    return this.process?.running === true;
  }

  get frozen(): boolean {
    return this.running && this.isFrozen;
  }

  /** Starts it, for the first time or again on the same port and data, and waits until it serves. */
  async start(): Promise<void> {
    await this.launch();
    await this.ready();
  }

  /** Starts the process only: a member of an ensemble does not serve before it has a quorum. */
  async launch(): Promise<void> {
    if (this.running) return;
    this.isFrozen = false;
    const log = await open(this.logFile, 'a');
    try {
      this.process = await GuardedProcess.spawn(this.installation.java, this.arguments, {
        stdio: ['ignore', log.fd, log.fd],
        cwd: this.folder.path,
        env: { ...process.env, ...this.options.env },
      });
    } finally {
      await log.close();
    }
  }

  /** Waits until it serves; fails at once, with the end of its log, if its process ends. */
  async ready(timeout = this.options.startTimeout ?? 30_000): Promise<void> {
    const label = `ZooKeeper server on ${this.connect} serving`;
    const state = await eventually(
      async () => (await this.isServing()) || (!this.running && 'ended'),
      { timeout, label },
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await this.log()}`, { cause: error });
    });
    if (state === 'ended') throw new Error(`${label}: it ended.\n${await this.log()}`);
  }

  /** Ends it as an administrator would (SIGTERM). */
  async stop(): Promise<void> {
    await this.process?.end('SIGTERM');
  }

  /** Ends it as a power failure would (SIGKILL), but for the disk: what it wrote is kept. */
  async kill(): Promise<void> {
    await this.process?.end('SIGKILL');
  }

  /** Stops all its threads (SIGSTOP): connections stay open and nothing answers. */
  async freeze(): Promise<void> {
    await this.process?.freeze();
    this.isFrozen = true;
  }

  /** Lets it go on (SIGCONT) as if no time had passed. */
  resume(): void {
    this.process?.resume();
    this.isFrozen = false;
  }

  /** Asks one of ZooKeeper's four-letter words, such as `srvr` or `mntr`. */
  async fourLetter(word: string, timeout = 2_000): Promise<string> {
    const socket = connect(this.port, LOOPBACK);
    const timer = setTimeout(() => {
      socket.destroy(new Error(`${this.connect} did not answer ${word} within ${timeout} ms`));
    }, timeout);
    try {
      socket.write(word);
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      return answer;
    } finally {
      clearTimeout(timer);
      socket.destroy();
    }
  }

  /** The part it plays at the moment, or undefined if it does not serve. */
  async mode(): Promise<ServerMode | undefined> {
    if (!this.running || this.frozen) return undefined;
    const answer = await this.fourLetter('srvr').catch(() => '');
    return /^Mode: (\w+)/m.exec(answer)?.[1] as ServerMode | undefined;
  }

  /** What it wrote to its log (warnings and errors). */
  async log(): Promise<string> {
    return readFile(this.logFile, 'utf8').catch(() => '');
  }

  /** Whether it ended because somebody else has its port: the reason to try another one. */
  async lostItsPort(): Promise<boolean> {
    if (/BindException|Address already in use/.test(await this.log())) return true;
    return !this.running && (await isTaken(this.port));
  }

  /** Ends the process, frozen or not, and removes all its files. */
  async close(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }

  /** That something answers on our port is not enough: it must be this server, which the data folder tells. */
  private async isServing(): Promise<boolean> {
    const answer = await this.fourLetter('conf').catch(() => '');
    return answer.includes(`dataDir=${join(this.folder.path, 'data')}`);
  }

  private get logFile(): string {
    return join(this.folder.path, 'server.log');
  }

  private get arguments(): string[] {
    return [
      '-Xmx128m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      '-XX:-UsePerfData',
      '-Dzookeeper.jmx.log4j.disable=true',
      // What is written outlives a killed process without it; only a machine that fails needs it.
      '-Dzookeeper.forceSync=no',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      `-Dlogback.configurationFile=${join(this.folder.path, 'logback.xml')}`,
      ...(this.options.javaArguments ?? []),
      ...['-cp', this.installation.classPath],
      'org.apache.zookeeper.server.quorum.QuorumPeerMain',
      join(this.folder.path, 'zoo.cfg'),
    ];
  }
}

/** For releases of Apache, which log through logback and would write everything without it. */
const LOGBACK = `<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5level %logger - %msg%n</pattern></encoder>
  </appender>
  <root level="warn"><appender-ref ref="console" /></root>
</configuration>
`;

function toLines(settings: Record<string, string | number>): string {
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

async function isTaken(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await listen(server, port);
  } catch {
    return true;
  }
  server.close();
  await once(server, 'close');
  return false;
}
