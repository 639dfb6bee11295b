import type { WriteStream } from 'node:tty';

/** What is under way: one live line on a terminal, elsewhere a plain line for each that has ended. */
export class Progress {
  readonly #running = new Map<string, string>();
  #shown = 0;

  constructor(private readonly stream: WriteStream) {}

  show(name: string, state: string): void {
    this.#running.set(name, state);
    if (!this.stream.isTTY || performance.now() - this.#shown < 200) return;
    this.#shown = performance.now();
    this.#draw();
  }

  end(name: string, result: string): void {
    this.#running.delete(name);
    this.#erase();
    this.stream.write(`${name}: ${result}\n`);
    this.#draw();
  }

  #draw(): void {
    if (!this.stream.isTTY) return;
    const states = [...this.#running].map(([name, state]) => `${name}: ${state}`);
    this.#erase();
    this.stream.write(states.join(' | ').slice(0, this.stream.columns - 1));
  }

  #erase(): void {
    if (this.stream.isTTY) this.stream.write('\r\u001b[K');
  }
}
