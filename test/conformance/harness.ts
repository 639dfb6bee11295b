import type { Registry } from '../../lib/registry/registry.js';

/** A client of the store under test, with a way to it that only this client uses. */
export interface Client {
  readonly registry: Registry;
  readonly link: ClientLink;
}

/** What can happen on the way between one client and the store. All of it holds until undone. */
export interface ClientLink {
  /** Breaks the connection, so that both sides notice, and lets no new one come about. */
  cut(): Promise<void>;
  heal(): Promise<void>;
  /** Holds what is under way (`up` is to the store); nobody is told. */
  freeze(direction?: 'up' | 'down' | 'both'): void;
  thaw(): void;
  /** Lets every answer and event arrive so many milliseconds late. */
  delay(milliseconds: number): void;
  /** The next write takes effect, but the connection breaks before its answer arrives. */
  loseNextAnswer(): void;
  /** The connection breaks instead of delivering the next write. */
  loseNextRequest(): void;
  /** How many requests have gone up so far; signs of life and what opens a session do not count. */
  requests(): number;
  /** How many of them were reads. */
  reads(): number;
}

export interface ClientOptions {
  /** @default the harness's `patience` */
  readonly sessionTimeout?: number;
}

/** What a store has to offer to be put through the conformance suite. */
export interface RegistryHarness {
  /** A session timeout for cases that wait for a session to end, and as long as that may take. */
  readonly haste: number;
  /** A session timeout that a busy machine does not exceed by accident. */
  readonly patience: number;
  /** How many servers stand behind the store. */
  readonly servers: number;

  /** A connected client that no fault of a link concerns. */
  witness(): Promise<Registry>;

  /** A client that has not been told to connect yet. */
  client(options?: ClientOptions): Promise<Client>;

  /** Ends all servers; what was committed stays. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops all servers where they stand: connections stay open and nothing answers. */
  freeze(): Promise<void>;
  resume(): Promise<void>;
  /** Ends the server that decides on writes, without a word, and waits for another to take over. */
  killLeader(): Promise<void>;

  /** Closes all clients and undoes all faults, so that the next case finds the store in good health. */
  release(): Promise<void>;
  close(): Promise<void>;
}

export type CreateHarness = () => Promise<RegistryHarness>;
