import type { Environment, Timer } from '../registry/environment.js';
import { ANY_VERSION, type OperationOptions, type Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { type Instant, instantOf, type Lease } from './lease.js';

export interface LeaseKeeperOptions {
  readonly leasePath: string;
  readonly session: string;
  /** Whether our own registration still stands; read behind every renewal. */
  readonly isRegistered: (options: OperationOptions) => Promise<boolean>;
  /** Whether our latch still stands, where we lead; read behind every renewal. */
  readonly isLatched: (options: OperationOptions) => Promise<boolean>;
  /** A renewal counted: shards may be held. */
  readonly onRenewed: () => void;
  readonly onLapsed: () => void;
  readonly onEvicted: () => void;
  readonly onUnlatched: () => void;
}

/** What the lease is needed for: nothing, leading only, or holding shards as well. */
export type LeaseNeed = 'nothing' | 'leading' | 'holding';

/**
 * Keeps the lease while it is needed: a committed write in our own session every D/4, one at a time,
 * each followed by a look at our own registration, so that an operator who deletes it is noticed before
 * anybody has waited us out. Nobody watches the lease node; it says whether its owner may hold anything,
 * which matters only where a plan has been deleted.
 */
export class LeaseKeeper {
  #need: LeaseNeed = 'nothing';
  /** The last renewal that counted said that we may hold shards. */
  #isFlagged = false;
  /** How often the need was lowered: a renewal begun before that must not claim anything after it. */
  #lowered = 0;
  #closed = false;
  #renewing = false;
  #count = 0;
  #exists = false;
  #renewal: Timer | undefined;
  #deadline: Timer | undefined;
  readonly #interval: number;

  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
    private readonly lease: Lease,
    private readonly options: LeaseKeeperOptions,
  ) {
    this.#interval = lease.duration / 4;
  }

  /** Whether shards may be held now: the lease runs, and its node has said so. */
  get mayHold(): boolean {
    return this.#isFlagged && this.lease.isValid;
  }

  /** Renew from now on, or stop doing so. Whoever holds nothing any more may lower the need. */
  set need(need: LeaseNeed) {
    if (this.#need === need || this.#closed) return;
    const isRaised = this.#need === 'nothing' || need === 'holding';
    this.#need = need;
    if (need !== 'holding') {
      this.#isFlagged = false;
      this.#lowered += 1;
    }
    if (need === 'nothing') this.#rest();
    // That less is needed can wait for the next renewal: nobody is kept waiting by it.
    else if (isRaised) this.#renew();
  }

  /** After a lapse: what was held has been surrendered. */
  restart(): void {
    this.#isFlagged = false;
    this.lease.restart();
    this.#renew();
  }

  /** Tells the store that we hold nothing, now; it matters when there is no plan any more. */
  async disclaim(): Promise<void> {
    if (this.#need === 'holding') this.need = 'leading';
    // The node may be that of an earlier registration in this session, with nothing known of it here.
    const { leasePath, session } = this.options;
    // Nobody grants anything before this is said, unless our renewals have begun to say otherwise.
    while (!this.#closed && this.#need !== 'holding') {
      try {
        await this.registry.set(leasePath, this.#data(false), ANY_VERSION, { session });
        return;
      } catch (error) {
        const code = registryErrorCode(error);
        if (code === 'NO_NODE') return;
        if (code !== 'CONNECTION_LOST' && code !== 'TIMED_OUT') throw error;
      }
    }
  }

  /** Takes the lease node away: we have left. */
  async relinquish(): Promise<void> {
    this.close();
    const { leasePath, session } = this.options;
    try {
      await this.registry.delete(leasePath, ANY_VERSION, { session });
    } catch (error) {
      if (registryErrorCode(error) !== 'NO_NODE') throw error;
    }
  }

  close(): void {
    this.#closed = true;
    this.#isFlagged = false;
    this.#renewal?.cancel();
    this.#deadline?.cancel();
  }

  /** An unneeded lease runs out without consequences. */
  #rest(): void {
    this.#renewal?.cancel();
    this.#deadline?.cancel();
    this.lease.restart();
  }

  get #isNeeded(): boolean {
    return this.#need !== 'nothing' && !this.#closed;
  }

  #renew(): void {
    if (this.#renewing || !this.#isNeeded) return;
    this.#renewing = true;
    this.#renewal?.cancel();
    const sent = instantOf(this.environment.clock);
    const isHolding = this.#need === 'holding';
    const lowered = this.#lowered;
    const maySay = (): boolean => isHolding && this.#lowered === lowered;
    void this.#attempt(sent, maySay).finally(() => {
      this.#renewing = false;
      if (!this.#isNeeded) return;
      // Wanted for more than it said: say so at once.
      if (this.#need === 'holding' && !maySay()) return this.#renew();
      const elapsed = this.environment.clock.monotonic() - sent.monotonic;
      this.#renewal = this.environment.clock.setTimer(
        () => this.#renew(),
        Math.max(this.#interval - elapsed, 1),
      );
    });
  }

  async #attempt(sent: Instant, maySay: () => boolean): Promise<void> {
    const { session } = this.options;
    // A server that takes half the lease to answer has lost the others: try another one in time.
    const patience = this.environment.clock.setTimer(
      () => this.registry.reconnect(),
      this.lease.duration / 2,
    );
    try {
      // Sent one behind the other: the looks are answered after the write has been committed.
      const [, isRegistered, isLatched] = await Promise.all([
        this.#write(maySay, { session }),
        this.options.isRegistered({ session }),
        this.options.isLatched({ session }),
      ]);
      if (this.#closed) return;
      if (!isRegistered) return this.options.onEvicted();
      if (!isLatched) this.options.onUnlatched();
      if (!this.#isNeeded || !this.lease.renew(sent)) return;
      this.#isFlagged = maySay();
      this.#watchDeadline();
      this.options.onRenewed();
    } catch (error) {
      this.environment.log.debug(`A lease renewal failed: ${(error as Error).message}`);
    } finally {
      patience.cancel();
    }
  }

  /** Looks at each attempt whether it may still be said that we hold: what we disclaimed stays so. */
  async #write(maySay: () => boolean, options: OperationOptions): Promise<void> {
    const { leasePath } = this.options;
    if (this.#exists) {
      try {
        await this.registry.set(leasePath, this.#data(maySay()), ANY_VERSION, options);
        return;
      } catch (error) {
        if (registryErrorCode(error) !== 'NO_NODE') throw error;
      }
    }
    try {
      await this.registry.create(leasePath, this.#data(maySay()), {
        ...options,
        mode: 'ephemeral',
        parents: true,
      });
    } catch (error) {
      // An earlier registration of this id left it, or an answer was lost; the write is what counts.
      if (registryErrorCode(error) !== 'NODE_EXISTS') throw error;
      await this.registry.set(leasePath, this.#data(maySay()), ANY_VERSION, options);
    }
    this.#exists = true;
  }

  #data(isHolding: boolean): Buffer {
    return encodeLease({ renewal: ++this.#count, mayHold: isHolding });
  }

  #watchDeadline(): void {
    this.#deadline?.cancel();
    const left = this.lease.duration - this.lease.elapsed;
    this.#deadline = this.environment.clock.setTimer(
      () => {
        if (!this.#isNeeded) return;
        if (this.lease.hasLapsed) this.options.onLapsed();
        else this.#watchDeadline();
      },
      Math.max(left, 1),
    );
  }
}

/** What a lease node says. */
export interface LeaseRecord {
  readonly renewal: number;
  readonly mayHold: boolean;
}

export function encodeLease(record: LeaseRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

/** Whether the owner of this lease may hold anything; what cannot be read might. */
export function mayHold(data: Buffer): boolean {
  try {
    return (JSON.parse(data.toString()) as Partial<LeaseRecord>).mayHold !== false;
  } catch {
    return true;
  }
}
