import { filter, firstValueFrom, takeUntil, race, map } from 'rxjs';
import type { Environment } from '../registry/environment.js';
import type { OperationOptions, Registry } from '../registry/registry.js';
import { AbortedError, NoNodeError, registryErrorCode } from '../registry/registry.errors.js';
import { SureWrites } from '../registry/sure-writes.js';
import { aborted$, after } from './async.js';
import { DuplicateInstanceError } from './coordinator.errors.js';
import type { CoordinatorOptions } from './coordinator.types.js';
import type { Keyspace } from './keyspace.js';
import { decodeMember, encodeMember, type MemberRecord, newMemberRecord } from './member-record.js';

type Promises = Pick<MemberRecord, 'acked' | 'surrendered' | 'leaving' | 'rejoinWindow'>;

/**
 * Our own registration `/instances/{id}`: one incarnation, in one session. Only we write it, and its
 * numbers never fall. It is never taken over from, or deleted for, another live session.
 */
export class Membership {
  readonly #writes: SureWrites;
  readonly #path: string;
  #record: MemberRecord;
  #written: MemberRecord | undefined;
  #version = 0;
  #writing: Promise<void> | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
    keyspace: Keyspace,
    private readonly options: CoordinatorOptions,
    private readonly session: string,
    record: Pick<MemberRecord, 'lease' | 'surrendered' | 'leaving'>,
    private readonly signal: AbortSignal,
  ) {
    this.#writes = new SureWrites(registry, environment);
    this.#path = keyspace.instance(options.instance.id);
    this.#record = newMemberRecord(options.instance, environment.random.hex(16), {
      ...record,
      drainTimeout: options.drainTimeout,
      rejoinWindow: record.leaving ? 0 : options.rejoin.window,
      lends: options.rejoin.lends,
    });
  }

  get incarnation(): string {
    return this.#record.incarnation;
  }

  /** What we have promised, written or about to be. */
  get record(): MemberRecord {
    return this.#record;
  }

  /** Registers; while another live session has the id, waits for it to go, within the bound. */
  async register(patience: number): Promise<void> {
    const { clock, log } = this.environment;
    const deadline = clock.monotonic() + patience;
    for (let attempt = 0; ; attempt++) {
      const record = this.#record;
      try {
        await this.#writes.create(this.#path, this.#encode(record), {
          ...this.#pinned,
          mode: 'ephemeral',
          parents: true,
        });
        this.#written = record;
        break;
      } catch (error) {
        if (registryErrorCode(error) !== 'NODE_EXISTS') throw error;
      }
      if (await this.#removeOurOwn()) continue;
      if (attempt === 0) {
        log.warn(`Another live session is registered as ${this.#path}; waiting for it to end`);
      }
      if (!(await this.#gone(deadline - clock.monotonic()))) {
        if (this.signal.aborted) throw new AbortedError({ operation: 'create', path: this.#path });
        throw new DuplicateInstanceError(this.options.instance.id, this.#path, patience);
      }
    }
    // What was promised while the node was being made.
    await this.promise({});
  }

  /** Raises our promises; resolves when the store has them. Those made meanwhile are written together. */
  async promise(change: Partial<Promises>): Promise<void> {
    const { acked, surrendered, leaving, rejoinWindow } = this.#record;
    const promised: Promises = {
      acked: Math.max(acked, change.acked ?? 0),
      surrendered: Math.max(surrendered, change.surrendered ?? 0),
      leaving: change.leaving ?? leaving,
      rejoinWindow: change.rejoinWindow ?? rejoinWindow,
    };
    const isNew =
      promised.acked > acked ||
      promised.surrendered > surrendered ||
      promised.leaving !== leaving ||
      promised.rejoinWindow !== rejoinWindow;
    if (isNew) this.#record = { ...this.#record, ...promised };
    // Before the registration the node is not ours to write: it may be another live session's.
    if (this.#written === undefined) return;
    if (this.#written !== this.#record) this.#writing ??= this.#writeAll();
    await this.#writing;
  }

  /** Whether the store still has this registration. */
  async isRegistered(options: OperationOptions): Promise<boolean> {
    try {
      const { data, stat } = await this.registry.get(this.#path, options);
      return stat.owner === this.session && this.#isOurs(data);
    } catch (error) {
      if (registryErrorCode(error) === 'NO_NODE') return false;
      throw error;
    }
  }

  async unregister(timeout: number): Promise<void> {
    if (!this.#written) return;
    try {
      const { stat, data } = await this.registry.get(this.#path, { ...this.#pinned, timeout });
      if (!this.#isOurs(data)) return;
      await this.#writes.delete(this.#path, stat.createdId, { session: this.session, timeout });
    } catch (error) {
      if (registryErrorCode(error) !== 'NO_NODE') throw error;
    }
  }

  get #pinned(): OperationOptions {
    return { session: this.session, signal: this.signal };
  }

  #isOurs(data: Buffer): boolean {
    return decodeMember(this.options.instance.id, data)?.incarnation === this.incarnation;
  }

  #encode(record: MemberRecord): Buffer {
    return encodeMember(record, this.options.instance);
  }

  /** An earlier incarnation of ours in the same session, or what an operator wrote over it. */
  async #removeOurOwn(): Promise<boolean> {
    const stat = await this.registry.exists(this.#path, this.#pinned);
    if (stat && stat.owner !== this.session) return false;
    if (stat) await this.#writes.delete(this.#path, stat.createdId, this.#pinned);
    return true;
  }

  async #gone(patience: number): Promise<boolean> {
    if (patience <= 0) return false;
    const gone$ = this.registry.watch(this.#path).pipe(
      filter((node) => node === undefined),
      map(() => true),
    );
    const late$ = after(this.environment.clock, patience).pipe(map(() => false));
    return firstValueFrom(race(gone$, late$).pipe(takeUntil(aborted$(this.signal))), {
      defaultValue: false,
    });
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#written !== this.#record) await this.#write(this.#record);
    } finally {
      // In the same breath as the last look at the record, or a promise made in between is forgotten.
      this.#writing = undefined;
    }
  }

  async #write(record: MemberRecord): Promise<void> {
    const data = this.#encode(record);
    try {
      const stat = await this.#writes.set(this.#path, data, this.#version, this.#pinned);
      this.#version = stat.version;
      this.#written = record;
    } catch (error) {
      if (registryErrorCode(error) !== 'BAD_VERSION') throw error;
      await this.#adoptVersion();
    }
  }

  /** Somebody wrote our node by hand: it is ours all the same, unless it is another session's. */
  async #adoptVersion(): Promise<void> {
    const { stat } = await this.registry.get(this.#path, this.#pinned);
    if (stat.owner !== this.session) throw new NoNodeError({ operation: 'set', path: this.#path });
    this.#version = stat.version;
  }
}
