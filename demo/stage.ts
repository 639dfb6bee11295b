import type { Audit } from './audit.js';
import type { Report } from './demo-app.js';

/** How long things take here at most. */
export interface Timing {
  readonly session: number;
  readonly lease: number;
  readonly margin: number;
  /** What else may count, in words. */
  readonly beyond: string;
}

/** From a crash until its shards are granted again. */
export const afterCrash = ({ session, lease, margin }: Timing): number => session + lease + margin;

/** What the audience sees of an instance. */
export interface Appearance {
  /** One word: its own status, or what has happened to it. */
  state: string;
  isLeader: boolean;
  finishing: readonly number[];
}

/** Where instances come and go: one process on a memory cluster, or processes on a ZooKeeper. */
export interface Stage {
  /** What runs where, in a few words. */
  readonly setting: string;
  readonly timing: Timing;
  /** What is done to whom, in the words of this stage. */
  readonly words: Readonly<Record<'crash' | 'freeze' | 'thaw', string>>;
  readonly cast: ReadonlyMap<string, Appearance>;
  join(name: string): Promise<void>;
  leave(name: string): Promise<void>;
  crash(name: string): Promise<void>;
  freeze(name: string): Promise<void>;
  thaw(name: string): Promise<void>;
  /** Everybody who is there leaves, then the stage itself is gone. */
  close(): Promise<void>;
}

/** Keeps a cast and an audit by what is reported. */
export class CallSheet {
  readonly cast = new Map<string, Appearance>();
  /** Since when those who were frozen can be asked again; Infinity while they cannot. */
  readonly #awakeSince = new Map<string, number>();

  constructor(
    readonly audit: Audit,
    /** Something that the audience should know. */
    readonly tell: (message: string) => void,
  ) {}

  enter(name: string): void {
    this.cast.set(name, { state: 'starting', isLeader: false, finishing: [] });
  }

  heard(name: string, { look, finishing, status, isLeader }: Report): void {
    const awakeSince = this.#awakeSince.get(name);
    // What it said before it froze may reach us late.
    if (awakeSince !== undefined && look.at < awakeSince) return;
    this.#awakeSince.delete(name);
    // While it could not be asked is no pause in our asking.
    this.audit.look(name, awakeSince === undefined ? look : { ...look, longestPause: 0 });
    this.cast.set(name, { state: status, isLeader, finishing });
  }

  /** It cannot be asked: until now it may have said yes, and what it says on waking counts again. */
  froze(name: string, at: number): void {
    this.#awakeSince.set(name, Infinity);
    this.exit(name, 'frozen', at);
  }

  wakes(name: string, at: number): void {
    this.#awakeSince.set(name, at);
  }

  exit(name: string, state: string, at: number): void {
    this.audit.gone(name, at);
    this.cast.set(name, { state, isLeader: false, finishing: [] });
  }
}
