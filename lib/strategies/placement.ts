import type {
  Demand,
  StrategyInput,
  StrategyMember,
} from '../interfaces/sharding-strategy.interface.js';

/** Items that may go to the same members. */
export interface PlacementClass {
  /** Indices of members, ascending, never empty. */
  readonly members: Int32Array;
  /** Ascending, never empty. */
  readonly items: Int32Array;
}

export function satisfies(member: StrategyMember, { id, labels }: Demand): boolean {
  if (id !== undefined && id !== member.id) return false;
  for (const key in labels) if (member.labels[key] !== labels[key]) return false;
  return true;
}

/**
 * The items by where they may go, the narrowest first: those that have no choice are placed before
 * those that can go round them. Items that nobody may hold are in no class.
 */
export function classesOf(input: StrategyInput): PlacementClass[] {
  const { members, total, demands, demandOf } = input;
  if (total === 0) return [];
  const everyone = Int32Array.from(members.keys());
  if (!demands || !demandOf) return [{ members: everyone, items: upTo(total) }];

  const allowed = [everyone];
  const classOfDemand = classifyDemands(members, demands, allowed);
  const classOf = demandOf.map((demand) => (demand < 0 ? 0 : classOfDemand[demand]!));
  return itemsByClass(classOf, allowed.length)
    .map((items, index) => ({ members: allowed[index]!, items }))
    .filter((found) => found.items.length > 0 && found.members.length > 0)
    .sort((a, b) => a.members.length - b.members.length);
}

/** Demands that the same members satisfy are one class; what is found is added to `allowed`. */
function classifyDemands(
  members: readonly StrategyMember[],
  demands: readonly Demand[],
  allowed: Int32Array[],
): Int32Array {
  const finder = new MemberFinder(members);
  const classes = new Map(allowed.map((found, index) => [found.join(), index]));
  return Int32Array.from(demands, (demand) => {
    const found = finder.find(demand);
    const key = found.join();
    const known = classes.get(key);
    if (known !== undefined) return known;
    classes.set(key, allowed.length);
    return allowed.push(found) - 1;
  });
}

function itemsByClass(classOf: Int32Array, count: number): Int32Array[] {
  const sizes = new Int32Array(count);
  for (let item = 0; item < classOf.length; item++) sizes[classOf[item]!]! += 1;
  const lists = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(count);
  for (let item = 0; item < classOf.length; item++) {
    const index = classOf[item]!;
    lists[index]![filled[index]!++] = item;
  }
  return lists;
}

/** Who satisfies a demand. A group may pin every item, so a pin is looked up rather than searched. */
export class MemberFinder {
  readonly #indexOf: ReadonlyMap<string, number>;

  constructor(private readonly members: readonly StrategyMember[]) {
    this.#indexOf = new Map(members.map(({ id }, index) => [id, index]));
  }

  find(demand: Demand): Int32Array {
    if (demand.id === undefined) {
      return upTo(this.members.length).filter((index) => satisfies(this.members[index]!, demand));
    }
    const index = this.#indexOf.get(demand.id);
    const isFound = index !== undefined && satisfies(this.members[index]!, demand);
    return isFound ? Int32Array.of(index) : new Int32Array(0);
  }
}

function upTo(count: number): Int32Array {
  const numbers = new Int32Array(count);
  for (let index = 0; index < count; index++) numbers[index] = index;
  return numbers;
}
