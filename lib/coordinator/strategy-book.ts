import type { ShardingStrategy, StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import type { Log } from '../registry/environment.js';
import {
  builtInStrategies,
  checkAssignment,
  frozenView,
  honourDemands,
  sticky,
} from '../strategies/index.js';

/**
 * Finds the strategy that the shared configuration names. Nothing that an application brings along can
 * keep the group from having a plan: where a strategy is unknown here, fails, or answers nonsense, that
 * is said and `sticky` plans instead.
 */
export class StrategyBook {
  /** What was last complained about, so that it is not said with every plan. */
  #complaint = '';

  constructor(
    private readonly own: Readonly<Record<string, ShardingStrategy>>,
    /** Of the group; some strategies draw lots by it. */
    private readonly namespace: string,
    private readonly log: Log,
  ) {}

  named(name: string): ShardingStrategy {
    const own = Object.hasOwn(this.own, name) ? this.own[name] : undefined;
    if (own) return (input) => this.#guarded(name, own, { ...input, name: this.namespace });
    const builtIn = Object.hasOwn(builtInStrategies, name) ? builtInStrategies[name] : undefined;
    if (!builtIn) {
      this.#complain(
        `The group's strategy "${name}" is not known to this instance, which leads: add it to its ` +
          "option strategies, or change the configuration; until then 'sticky' plans",
      );
    }
    // Not all of them know of demands.
    return (input) => honourDemands(input, (builtIn ?? sticky)({ ...input, name: this.namespace }));
  }

  #guarded(name: string, strategy: ShardingStrategy, input: StrategyInput): ArrayLike<number> {
    const result = this.#attempt(strategy, input);
    if (result.problem === undefined) {
      this.#complaint = '';
      return result.owners;
    }
    this.#complain(
      `The strategy "${name}" was not used: ${result.problem}; 'sticky' plans this step instead`,
    );
    return sticky(input);
  }

  #attempt(
    strategy: ShardingStrategy,
    input: StrategyInput,
  ): { problem: string } | { problem: undefined; owners: ArrayLike<number> } {
    try {
      const owners = honourDemands(input, strategy(frozenView(input)));
      const problem = checkAssignment(input, owners);
      return problem === undefined ? { problem, owners } : { problem };
    } catch (error) {
      return { problem: `it threw ${String(error)}` };
    }
  }

  #complain(complaint: string): void {
    if (complaint === this.#complaint) return;
    this.#complaint = complaint;
    this.log.error(complaint);
  }
}
