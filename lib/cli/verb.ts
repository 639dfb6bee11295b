import type { ShardingAdmin } from '../admin/index.js';
import type { Terminal } from './terminal.js';

/** What was given on the command line, by name. */
export class Given {
  constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  text(name: string): string {
    return this.optional(name) ?? '';
  }

  optional(name: string): string | undefined {
    const value = this.values[name];
    return typeof value === 'string' ? value : undefined;
  }

  list(name: string): string[] {
    const value = this.values[name];
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }
}

/** What a verb works with. */
export interface Context {
  readonly admin: ShardingAdmin;
  readonly terminal: Terminal;
  readonly given: Given;
}

/** What a verb found or did: for machines, and for people in lines that fit the terminal. */
export interface Answer {
  readonly json: unknown;
  readonly lines: readonly string[];
  /** @default 0 */
  readonly exitCode?: number;
}

export interface VerbOption {
  readonly describe: string;
  readonly type?: 'boolean' | 'string' | 'array';
  readonly default?: boolean;
}

export interface Verb {
  /** Its name and its positional arguments, as in `pin <items> <instance>`. */
  readonly usage: string;
  readonly describe: string;
  readonly positionals?: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, VerbOption>>;
  /** What to write behind the name of the command, and what that does. */
  readonly examples: readonly (readonly [string, string])[];
  /** It changes something, so it asks first. */
  readonly isChange: boolean;
  /** Undefined where it has said everything itself. */
  run(context: Context): Promise<Answer | undefined>;
}
