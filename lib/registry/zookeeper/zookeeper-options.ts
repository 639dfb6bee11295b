import { InvalidArgumentError } from '../registry.errors.js';
import { type ConnectString, parseConnectString } from './connect-string.js';

/** @publicApi */
export interface ZooKeeperAuth {
  /** @default 'digest' */
  readonly scheme?: 'digest';
  /** `user:password`. */
  readonly credentials: string;
}

/** How to reach a ZooKeeper ensemble. */
export interface ZooKeeperOptions {
  /** Servers and optionally a chroot, as in `zk1:2181,zk2:2181/my-app`; the port defaults to 2181. */
  readonly connect: string;
  /**
   * Milliseconds without contact after which the ensemble ends the session; the servers may grant more
   * or less. @default 10000
   */
  readonly sessionTimeout?: number | undefined;
  /** Milliseconds after which `connect()` reports that no server answers. @default 10000 */
  readonly connectTimeout?: number | undefined;
  /** Opens nodes that are closed to others; what is created gets closed to everybody else. @default none */
  readonly auth?: ZooKeeperAuth | undefined;
}

/** Options that have been found good, with their defaults. */
export interface CheckedOptions extends ConnectString {
  readonly sessionTimeout: number;
  readonly connectTimeout: number;
  readonly credentials: string | undefined;
}

/** The client keeps a timeout in 32 bits. */
const LONGEST = 2 ** 31 - 1;

/** Throws `InvalidArgumentError` naming the option, the value (never a secret) and what would be right. */
export function checkOptions(options: ZooKeeperOptions): CheckedOptions {
  if ((options as { tls?: unknown }).tls !== undefined) {
    throw new InvalidArgumentError(
      'registry.tls is set, but the native ZooKeeper client has no TLS: remove the option, and reach the ' +
        'ensemble over a trusted network or a local tunnel such as stunnel',
    );
  }
  const { sessionTimeout = 10_000, connectTimeout = 10_000 } = options;
  return {
    ...parseConnectString(options.connect),
    sessionTimeout: milliseconds('sessionTimeout', sessionTimeout),
    connectTimeout: milliseconds('connectTimeout', connectTimeout),
    credentials: options.auth && credentialsOf(options.auth),
  };
}

function milliseconds(option: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value <= LONGEST) return Math.ceil(value);
  const isBrief = typeof value === 'number' || value === null;
  const shown =
    typeof value === 'string' ? JSON.stringify(value) : isBrief ? value : `a ${typeof value}`;
  throw new InvalidArgumentError(
    `registry.${option} is ${shown}: expected a positive number of milliseconds, at most ${LONGEST}`,
  );
}

function credentialsOf({ scheme = 'digest', credentials }: ZooKeeperAuth): string {
  if (scheme !== 'digest') {
    throw new InvalidArgumentError(
      'registry.auth.scheme (not shown) is unknown: the only scheme is "digest"',
    );
  }
  // A user name is what stands before the first colon, and ZooKeeper takes an empty one without a word.
  if (typeof credentials !== 'string' || !/^[^:]+:./s.test(credentials)) {
    throw new InvalidArgumentError(
      'registry.auth.credentials (not shown) do not have the form "user:password": a user name, a colon ' +
        'and a password, none of them empty',
    );
  }
  return credentials;
}
