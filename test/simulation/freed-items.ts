import { decodeMember } from '../../lib/coordinator/member-record.js';
import { decodePlan } from '../../lib/coordinator/plan-codec.js';
import type { Commit } from '../../lib/registry/memory/memory-cluster.js';

interface Freed {
  readonly item: number;
  readonly token: bigint;
}

/**
 * Reads from what is committed which items a registration has let go of by its own word: from then on
 * anybody may give them to others. The plan that counts is the one that was committed last.
 */
export class FreedItems {
  #plan: Buffer | undefined;
  readonly #instances: string;
  readonly #planPath: string;

  constructor(namespace: string) {
    this.#instances = `/${namespace}/instances/`;
    this.#planPath = `/${namespace}/sharding`;
  }

  regard({ change }: Commit): readonly Freed[] {
    if (!('path' in change)) return [];
    const { path } = change;
    if (path === this.#planPath) this.#plan = 'data' in change ? change.data : undefined;
    if (change.kind !== 'set' || !path.startsWith(this.#instances)) return [];
    return this.#freedBy(path.slice(this.#instances.length), change.data);
  }

  #freedBy(id: string, data: Buffer): readonly Freed[] {
    const record = decodeMember(id, data);
    const plan = this.#read();
    if (!record || !plan) return [];
    const { incarnation, acked, surrendered } = record;
    const freed: Freed[] = [];
    for (const [item, owner] of plan.owners.entries()) {
      if (owner < 0 || plan.members[owner]!.incarnation !== incarnation) continue;
      const mark = plan.marks[item]!;
      const token = plan.tokens[item]!;
      const isFree = (mark > 0 && mark <= acked) || token <= surrendered;
      if (isFree) freed.push({ item, token: BigInt(token) });
    }
    return freed;
  }

  /** Operators also write what nobody can read. */
  #read() {
    try {
      return this.#plan && decodePlan(this.#plan);
    } catch {
      return undefined;
    }
  }
}
