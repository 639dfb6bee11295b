import * as dns from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Environment, Random } from '../environment.js';
import { formatServer, type Server } from './connect-string.js';

/** All numeric addresses of a host name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Asks the system's resolver in the thread pool: the event loop goes on meanwhile. */
export const systemLookup: Lookup = async (host) =>
  (await dns.lookup(host, { all: true })).map(({ address }) => address);

/** How long a name may take: without any address of it, and while an older answer will do. */
const PATIENCE = { unknown: 3_000, known: 250 };

/**
 * Turns the servers of a connect string into numeric addresses, since the native client would resolve
 * names on the event loop. At most one lookup a name is under way, however often it is asked: lookups
 * that hang in a DNS outage would otherwise fill the thread pool.
 */
export class ServerAddresses {
  readonly #known = new Map<string, readonly string[]>();
  readonly #lookups = new Map<string, Promise<void>>();
  readonly #problems = new Map<string, string>();
  #order: readonly string[] = [];

  constructor(
    private readonly servers: readonly Server[],
    private readonly environment: Environment,
    private readonly lookup: Lookup = systemLookup,
  ) {}

  /** The addresses now, each once, in a random order that stays as long as they do; maybe none. */
  async resolve(): Promise<readonly string[]> {
    await Promise.all(this.servers.map(({ host }) => this.#resolveHost(host)));
    const found = new Set(this.servers.flatMap((server) => this.#addressesOf(server)));
    const kept = this.#order.filter((address) => found.delete(address));
    this.#order = [...kept, ...shuffled([...found], this.environment.random)];
    return this.#order;
  }

  /** The addresses as they were last resolved. */
  get current(): readonly string[] {
    return this.#order;
  }

  /** The servers by the names the user gave them, with what became of each. */
  describe(): string {
    return this.servers
      .map((server) => {
        const name = formatServer(server);
        if (isIP(server.host)) return name;
        const addresses = this.#addressesOf(server).join(' and ');
        const problem = this.#problems.get(server.host);
        return `${name} (${[addresses, problem].filter(Boolean).join('; ') || 'not resolved yet'})`;
      })
      .join(', ');
  }

  /** In the native client's own notation, which has no brackets around an IPv6 address. */
  #addressesOf({ host, port }: Server): string[] {
    return (this.#known.get(host) ?? []).map((address) => `${address}:${port}`);
  }

  async #resolveHost(host: string): Promise<void> {
    if (isIP(host)) {
      this.#known.set(host, [host]);
      return;
    }
    let answer = this.#lookups.get(host);
    if (!answer) {
      answer = this.#ask(host).finally(() => this.#lookups.delete(host));
      this.#lookups.set(host, answer);
    }
    await this.#patiently(host, answer);
  }

  async #ask(host: string): Promise<void> {
    try {
      const addresses = await this.lookup(host);
      if (addresses.length === 0) throw Object.assign(new Error(), { code: 'ENOTFOUND' });
      this.#known.set(host, addresses);
      this.#problems.delete(host);
    } catch (error) {
      // What was known before stays: name servers fail more often than addresses change.
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      this.#problems.set(host, `the name cannot be resolved: ${code}`);
    }
  }

  #patiently(host: string, answer: Promise<void>): Promise<void> {
    const patience = this.#known.has(host) ? PATIENCE.known : PATIENCE.unknown;
    return new Promise((resolve) => {
      const timer = this.environment.clock.setTimer(() => {
        this.#problems.set(host, 'the name server does not answer');
        resolve();
      }, patience);
      void answer.finally(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

function shuffled(items: string[], random: Random): string[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random.fraction() * (last + 1));
    [items[last], items[other]] = [items[other] as string, items[last] as string];
  }
  return items;
}
