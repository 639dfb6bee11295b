import {
  BehaviorSubject,
  defer,
  filter,
  map,
  type Observable,
  pairwise,
  share,
  startWith,
} from 'rxjs';
import type { OwnersChange, ShardOwner } from '../interfaces/sharding-values.interface.js';
import type { Plan, PlanMember } from './plan.js';

/** Who holds what in the whole group and who leads it, by the local copy of the plan. */
export class Owners {
  readonly #seen = new BehaviorSubject<Plan | undefined>(undefined);
  /** Shared: plans are compared once for all who listen, and not at all while nobody does. */
  readonly #moves: Observable<OwnersChange> = this.#seen.pipe(
    pairwise(),
    map(([before, now]) => now && changeOf(before, now)),
    filter((change) => change !== undefined),
    share(),
  );

  /**
   * @param newest asked at each question: what a plan makes run may ask before all of it is carried out.
   * Where there is none any more (another session begins), what was seen last stands.
   */
  constructor(private readonly newest: () => Plan | undefined) {}

  /** 0 until the first plan. */
  get total(): number {
    return this.#plan?.total ?? 0;
  }

  get leaderId(): string | undefined {
    const office = this.#plan?.office;
    return office && office.lease > 0 ? office.id : undefined;
  }

  of(item: number): ShardOwner | undefined {
    const plan = this.#plan;
    const owner = plan?.members[plan.owners[item] ?? -1];
    if (!owner) return undefined;
    const { id, address } = owner;
    return { instanceId: id, ...(address === undefined ? {} : { address }) };
  }

  /** All items first, as soon as there is a plan; then what has another owner. */
  get changes$(): Observable<OwnersChange> {
    return defer(() => {
      const plan = this.#seen.value;
      return plan ? this.#moves.pipe(startWith(everything(plan))) : this.#moves;
    });
  }

  /** The newest plan has been carried out here: tells whoever listens what it changes. */
  update(): void {
    const plan = this.newest();
    if (plan && plan !== this.#seen.value) this.#seen.next(plan);
  }

  complete(): void {
    this.#seen.complete();
  }

  get #plan(): Plan | undefined {
    return this.newest() ?? this.#seen.value;
  }
}

function changeOf(before: Plan | undefined, now: Plan): OwnersChange | undefined {
  if (before?.total !== now.total) return everything(now);
  const { epoch, total } = now;
  const changed = difference(before, now);
  return changed.length > 0 ? { epoch, total, changed } : undefined;
}

function everything({ epoch, total }: Plan): OwnersChange {
  const changed: number[] = [];
  for (let item = 0; item < total; item++) changed.push(item);
  return { epoch, total, changed };
}

/** The items that `of` answers otherwise for; both plans have the same total. */
function difference(before: Plan, now: Plan): number[] {
  const numbers = new Map<string, number>();
  const former = ownerNumbers(before.members, numbers);
  const present = ownerNumbers(now.members, numbers);
  const changed: number[] = [];
  for (let item = 0; item < now.total; item++) {
    if (former[before.owners[item]! + 1] !== present[now.owners[item]! + 1]) changed.push(item);
  }
  return changed;
}

/**
 * For each member, after nobody, a number that is the same for the same owner in both plans: indexes are
 * not, and an instance that is back under its id and address is another member, but no other owner.
 */
function ownerNumbers(members: readonly PlanMember[], numbers: Map<string, number>): Int32Array {
  const nobody = -1;
  const owners = members.map(({ id, address = '' }) => {
    // No id contains a line break.
    const owner = `${id}\n${address}`;
    const number = numbers.get(owner) ?? numbers.size;
    numbers.set(owner, number);
    return number;
  });
  return Int32Array.from([nobody, ...owners]);
}
