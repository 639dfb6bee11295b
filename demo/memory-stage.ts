import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MemoryCluster, type MemoryRegistry, ShardingService } from '../lib/index.js';
import { now } from './clock.js';
import { DemoLogger, DemoModule, TOTAL, Witness } from './demo-app.js';
import type { CallSheet, Stage, Timing } from './stage.js';

/** Between two questions to all instances. */
const INTERVAL = 4;

interface Actor {
  readonly app: INestApplicationContext;
  readonly registry: MemoryRegistry;
  readonly witness: Witness;
}

/** Several Nest applications in this process, on one memory cluster with a timed session. */
export class MemoryStage implements Stage {
  readonly setting = 'Nest applications in one process, memory registry';
  readonly timing: Timing = { session: 2_000, lease: 1_000, margin: 500, beyond: '' };
  readonly words = {
    crash: 'crashes: nothing is heard of it any more',
    freeze: 'is cut off: its connection freezes',
    thaw: 'is back: its connection thaws',
  };
  readonly #cluster = new MemoryCluster({ timed: true, sessionTimeout: this.timing.session });
  readonly #actors = new Map<string, Actor>();
  readonly #asking = setInterval(() => this.#askAll(), INTERVAL);

  constructor(private readonly sheet: CallSheet) {}

  get cast() {
    return this.sheet.cast;
  }

  async join(name: string): Promise<void> {
    this.sheet.enter(name);
    const others = new Set(this.#cluster.registries);
    const module = DemoModule.with({
      registry: { type: 'memory', cluster: this.#cluster },
      total: TOTAL,
      instance: { id: name },
      lease: { duration: this.timing.lease, margin: this.timing.margin },
    });
    // An abandoned application warns of what happens to it, as it should, but nobody can hear it.
    const logger = new DemoLogger(['error'], this.sheet.tell);
    const app = await NestFactory.createApplicationContext(module, { logger, abortOnError: false });
    const registry = [...this.#cluster.registries].find((one) => !others.has(one))!;
    this.#actors.set(name, { app, registry, witness: app.get(Witness) });
  }

  async leave(name: string): Promise<void> {
    const { app } = this.#actors.get(name)!;
    await app.get(ShardingService).drain();
    await app.close();
    this.#exit(name, 'left');
  }

  /** The application goes on, without knowing that for the world it has died; it is not asked any more. */
  async crash(name: string): Promise<void> {
    this.#actors.get(name)!.registry.link.crash();
    this.#exit(name, 'crashed');
  }

  async freeze(name: string): Promise<void> {
    this.#actors.get(name)!.registry.link.freeze();
  }

  async thaw(name: string): Promise<void> {
    this.#actors.get(name)!.registry.link.thaw();
  }

  async close(): Promise<void> {
    for (const { registry } of this.#actors.values()) registry.link.thaw();
    await Promise.all([...this.#actors.keys()].map((name) => this.leave(name)));
    clearInterval(this.#asking);
  }

  #askAll(): void {
    const at = now();
    for (const [name, { witness }] of this.#actors) {
      this.sheet.heard(name, witness.ask(at));
    }
  }

  #exit(name: string, state: string): void {
    this.#askAll();
    this.#actors.delete(name);
    this.sheet.exit(name, state, now());
  }
}
