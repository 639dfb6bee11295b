/** How often a line is added where it cannot be rewritten. */
const EVERY = 10_000;

/** On a terminal one line that is rewritten, elsewhere one every ten seconds. */
export class LiveLine {
  #shown = performance.now();

  constructor(private readonly output: NodeJS.WriteStream = process.stdout) {}

  show(text: string): void {
    if (this.output.isTTY) return void this.output.write(`\r\u001B[K${text}`);
    if (performance.now() - this.#shown < EVERY) return;
    this.#shown = performance.now();
    this.output.write(`${text}\n`);
  }

  end(): void {
    if (this.output.isTTY) this.output.write('\r\u001B[K');
  }
}
