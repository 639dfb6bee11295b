import { BehaviorSubject, filter, type Observable, type Subscription } from 'rxjs';
import type { Environment } from '../registry/environment.js';
import { childPath, parentPath } from '../registry/node-path.js';
import type { NodeSnapshot, OperationOptions, Registry } from '../registry/registry.js';
import { registryErrorCode } from '../registry/registry.errors.js';
import { SureWrites } from '../registry/sure-writes.js';
import { ConfigMismatchError } from './coordinator.errors.js';
import type { CoordinatorOptions } from './coordinator.types.js';
import { lastingWatch } from './lasting-watch.js';
import { decodeConfig, encodeConfig, type GroupConfig, newConfig } from './group-config.js';

const DEFAULT_STRATEGY = 'sticky';

/** The group's shared configuration: written from our options if absent, then followed. */
export class ConfigStore {
  readonly #config = new BehaviorSubject<GroupConfig | undefined>(undefined);
  #subscription: Subscription | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly environment: Environment,
    private readonly path: string,
    private readonly options: CoordinatorOptions,
  ) {}

  get config(): GroupConfig | undefined {
    return this.#config.value;
  }

  get config$(): Observable<GroupConfig> {
    return this.#config.pipe(filter((config) => config !== undefined));
  }

  /** Makes sure that there is a configuration, compares it with ours, and follows it from now on. */
  async open(isFirstTime: boolean, options: OperationOptions): Promise<void> {
    const node = await this.#readOrCreate(options);
    this.#learn(node);
    if (isFirstTime) await this.#compare(node, options);
    const { registry, environment, path } = this;
    this.#subscription = lastingWatch(registry, environment.clock, path, (error) =>
      this.#report(error),
    ).subscribe((changed) => {
      if (changed) this.#learn(changed);
      else void this.#putBack();
    });
  }

  close(): void {
    this.#subscription?.unsubscribe();
    this.#config.complete();
  }

  async #readOrCreate(options: OperationOptions): Promise<NodeSnapshot> {
    for (;;) {
      try {
        return await this.registry.get(this.path, options);
      } catch (error) {
        if (registryErrorCode(error) !== 'NO_NODE') throw error;
      }
      const { total, strategy = DEFAULT_STRATEGY } = this.options;
      const data = encodeConfig(newConfig(total, strategy));
      await new SureWrites(this.registry, this.environment)
        .create(this.path, data, { ...options, parents: true })
        .catch((error: unknown) => {
          if (registryErrorCode(error) !== 'NODE_EXISTS') throw error;
        });
    }
  }

  /** A document that cannot be used is reported and ignored; the last good one stands. */
  #learn(node: NodeSnapshot): void {
    try {
      const config = decodeConfig(node.data);
      if (JSON.stringify(config) !== JSON.stringify(this.config)) this.#config.next(config);
    } catch (error) {
      this.#report(error);
    }
  }

  /**
   * Deleted by hand under a running group: without it no operator could change anything, and the next
   * instance to start would make one from its own options. Who removes a whole group deletes the place of
   * the instances first, and then it has to stay gone.
   */
  async #putBack(): Promise<void> {
    const { registry, environment, path, config } = this;
    const pinned = { session: registry.session.id };
    if (!config) return;
    try {
      if (!(await registry.exists(childPath(parentPath(path), 'instances'), pinned))) return;
      await new SureWrites(registry, environment).create(path, encodeConfig(config), pinned);
      environment.log.warn(`${path} was deleted; it is put back as it was last seen`);
    } catch (error) {
      // Others put it back as well, and somebody was first.
      if (registryErrorCode(error) === 'NODE_EXISTS') return;
      environment.log.warn(`${path} was deleted, and is not put back: ${(error as Error).message}`);
    }
  }

  #report(error: unknown): void {
    const standing = this.config ? '; the last good one stands' : '';
    this.environment.log.error(
      `The configuration in ${this.path} cannot be used: ${(error as Error).message}${standing}`,
    );
  }

  /** Only what was said explicitly is compared, once in a process, never on a reconnect. */
  async #compare(node: NodeSnapshot, options: OperationOptions): Promise<void> {
    const shared = this.#readable(node);
    if (shared === 'unreadable') return;
    const { total, strategy, onConfigMismatch } = this.options;
    const wanted: Partial<GroupConfig> = { total, ...(strategy === undefined ? {} : { strategy }) };
    const differences = Object.entries(wanted).filter(
      ([key, value]) => shared?.[key as keyof GroupConfig] !== value,
    );
    if (differences.length === 0) return;
    const said = differences
      .map(([key, value]) => {
        const theirs = JSON.stringify(shared?.[key as keyof GroupConfig]);
        return `${key} is ${theirs} in the group and ${JSON.stringify(value)} in the options`;
      })
      .join(', ');
    if (onConfigMismatch === 'fail') {
      throw new ConfigMismatchError(
        `The shared configuration ${this.path} differs from this instance's options: ${said}. ` +
          "Change the options, or set onConfigMismatch to 'keep' or 'overwrite'",
      );
    }
    if (onConfigMismatch === 'keep') {
      this.environment.log.warn(
        `The shared configuration is kept: ${said}. Set onConfigMismatch: 'overwrite' to change it`,
      );
      return;
    }
    const base = shared ?? newConfig(this.options.total, DEFAULT_STRATEGY);
    // Only the keys of the options change: the pins and weights of the others are not ours to lose.
    const data = encodeConfig({ ...base, ...wanted });
    try {
      await this.registry.set(this.path, data, node.stat.version, options);
      this.environment.log.log(`The shared configuration was overwritten: ${said}`);
    } catch (error) {
      if (registryErrorCode(error) !== 'BAD_VERSION') throw error;
      await this.#compareAgain(options);
    }
  }

  /**
   * What there is to compare with; nothing where no JSON stands. Other JSON may be the group's all the
   * same, of a later release or with one mistyped key, so it is never written over.
   */
  #readable({ data }: NodeSnapshot): GroupConfig | 'unreadable' | undefined {
    try {
      return decodeConfig(data);
    } catch (error) {
      const { onConfigMismatch } = this.options;
      if (onConfigMismatch === 'overwrite' && !isJson(data)) return undefined;
      const problem = `${this.path} cannot be used, and is left as it is: ${(error as Error).message}`;
      if (onConfigMismatch === 'fail') {
        throw new ConfigMismatchError(`The shared configuration ${problem}. Mend it by hand`);
      }
      this.environment.log.warn(
        `The shared configuration ${problem}. Until it is mended, this instance does not lead`,
      );
      return 'unreadable';
    }
  }

  async #compareAgain(options: OperationOptions): Promise<void> {
    const node = await this.registry.get(this.path, options);
    this.#learn(node);
    await this.#compare(node, options);
  }
}

function isJson(data: Buffer): boolean {
  try {
    JSON.parse(data.toString());
    return true;
  } catch {
    return false;
  }
}
