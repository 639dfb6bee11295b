import { Subscription } from 'rxjs';
import type { NodeSnapshot, Registry } from '../registry/registry.js';
import type { Keyspace } from './keyspace.js';
import { decodeMember, type MemberRecord } from './member-record.js';

interface Watched {
  readonly subscription: Subscription;
  isRead: boolean;
  record: MemberRecord | undefined;
  version: number;
}

/** The leader's live picture of who is registered, and the last words of those who went. */
export class MembersWatch {
  readonly #members = new Map<string, Watched>();
  readonly #lastWords = new Map<string, MemberRecord>();
  readonly #subscription: Subscription;
  #isListed = false;

  constructor(
    private readonly registry: Registry,
    private readonly keyspace: Keyspace,
    /** With the registration that was read, if that is what changed. */
    private readonly onChange: (registered?: MemberRecord) => void,
    /** What cannot be watched, where access is denied: the picture stays incomplete. */
    private readonly onError: (error: unknown) => void = () => {},
  ) {
    this.#subscription = registry
      .watchChildren(keyspace.instances)
      .subscribe({ next: (ids) => this.#list(ids ?? []), error: this.onError });
  }

  /** Whether every registration has been read at least once. */
  get isComplete(): boolean {
    return this.#isListed && [...this.#members.values()].every(({ isRead }) => isRead);
  }

  /** Those whose registration can be read; the others count as absent. */
  get records(): MemberRecord[] {
    return [...this.#members.values()].flatMap(({ record }) => record ?? []);
  }

  get lastWords(): ReadonlyMap<string, MemberRecord> {
    return this.#lastWords;
  }

  /** The version of a member's node when it was last read. */
  versionOf(id: string): number | undefined {
    return this.#members.get(id)?.version;
  }

  /** Forgets the last words of those that nobody asks about any more. */
  forgetExcept(incarnations: ReadonlySet<string>): void {
    for (const incarnation of this.#lastWords.keys()) {
      if (!incarnations.has(incarnation)) this.#lastWords.delete(incarnation);
    }
  }

  close(): void {
    this.#subscription.unsubscribe();
    for (const { subscription } of this.#members.values()) subscription.unsubscribe();
    this.#members.clear();
  }

  #list(ids: readonly string[]): void {
    this.#isListed = true;
    const present = new Set(ids);
    for (const [id, member] of this.#members) {
      if (present.has(id)) continue;
      member.subscription.unsubscribe();
      this.#remember(member.record);
      this.#members.delete(id);
    }
    for (const id of ids) if (!this.#members.has(id)) this.#follow(id);
    this.onChange();
  }

  #follow(id: string): void {
    const subscription = new Subscription();
    this.#members.set(id, { subscription, isRead: false, record: undefined, version: 0 });
    // A view that others have open emits at once, while we subscribe.
    subscription.add(
      this.registry
        .watch(this.keyspace.instance(id))
        .subscribe({ next: (node) => this.#learn(id, node), error: this.onError }),
    );
  }

  #learn(id: string, node: NodeSnapshot | undefined): void {
    const member = this.#members.get(id);
    if (!member) return;
    const record = node && decodeMember(id, node.data);
    if (member.record && member.record.incarnation !== record?.incarnation) {
      this.#remember(member.record);
    }
    member.isRead = true;
    member.record = record;
    member.version = node?.stat.version ?? 0;
    this.onChange(record);
  }

  #remember(record: MemberRecord | undefined): void {
    if (record) this.#lastWords.set(record.incarnation, record);
  }
}
