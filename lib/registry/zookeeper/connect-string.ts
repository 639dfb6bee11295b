import { isIP, isIPv6 } from 'node:net';
import { pathProblem } from '../node-path.js';
import { InvalidArgumentError } from '../registry.errors.js';

/** A server as the user named it: a host name or an address without brackets. */
export interface Server {
  readonly host: string;
  readonly port: number;
}

export interface ConnectString {
  /** Without duplicates, in the order given. */
  readonly servers: readonly Server[];
  /** The node that stands for `/`; empty for the real root. */
  readonly chroot: string;
}

const DEFAULT_PORT = 2181;
const EXAMPLE = '"zk1:2181,zk2:2181,[fd00::3]:2181/my-app"';
const HOST_NAME =
  /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

/** Reads `host:port,host:port/chroot`; whatever is wrong with it is said before anything connects. */
export function parseConnectString(value: unknown): ConnectString {
  if (typeof value !== 'string') throw invalid(typeof value, 'it is not a string');
  // Whatever part of it is a password: none of it is shown.
  if (value.includes('@')) {
    throw invalid('"***"', 'it contains "@"; credentials belong into registry.auth');
  }
  const refuse = (problem: string): never => {
    throw invalid(JSON.stringify(value), problem);
  };
  const text = value.trim();
  const slash = text.indexOf('/');
  const hosts = slash < 0 ? text : text.slice(0, slash);
  if (hosts.trim() === '') refuse('it names no server');

  const servers = new Map<string, Server>();
  for (const part of hosts.split(',')) {
    const server = parseServer(part.trim(), refuse);
    servers.set(formatServer(server), server);
  }
  return { servers: [...servers.values()], chroot: parseChroot(text.slice(hosts.length), refuse) };
}

/** The way a user would write it. */
export function formatServer({ host, port }: Server): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseServer(part: string, refuse: (problem: string) => never): Server {
  if (part === '') return refuse('there is nothing before or after a comma');
  const [, bracketed, plain = '', port] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/.exec(part) ?? refuse('it is malformed');
  if (bracketed === undefined) {
    if (isIPv6(part)) return refuse(`an IPv6 address needs brackets: "[${part}]:${DEFAULT_PORT}"`);
    if (isIP(plain) === 0 && !isHostName(plain)) {
      return refuse(`"${plain}" is neither a host name nor an address`);
    }
  } else if (!isIPv6(bracketed)) {
    return refuse(`"[${bracketed}]" is not an IPv6 address`);
  }
  return { host: (bracketed ?? plain).toLowerCase(), port: parsePort(port, refuse) };
}

/** A name of digits and dots only is a mistyped address, not something to ask a name server for. */
function isHostName(text: string): boolean {
  return HOST_NAME.test(text) && text.length <= 253 && !/^[\d.]+$/.test(text);
}

function parsePort(text: string | undefined, refuse: (problem: string) => never): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    return refuse(`"${text}" is not a port: expected a number from 1 to 65535`);
  }
  return port;
}

function parseChroot(chroot: string, refuse: (problem: string) => never): string {
  if (chroot === '' || chroot === '/') return '';
  const problem = pathProblem(chroot);
  return problem === undefined
    ? chroot
    : refuse(`its chroot ${JSON.stringify(chroot)} is bad: ${problem}`);
}

function invalid(shown: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `registry.connect is ${shown}: ${problem}; expected servers and optionally a chroot, like ${EXAMPLE}`,
  );
}
