import type { WriteStream } from 'node:tty';

const HIDE = '\u001B[?25l';
const SHOW = '\u001B[?25h';
const CLEAR_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';
const CLEAR = '\u001B[2J\u001B[H';

/** A picture that is drawn again and again at the same place of a terminal, and stays there at the end. */
export class Screen {
  #height = 0;
  #columns = 0;

  constructor(private readonly out: WriteStream) {
    out.write(HIDE);
  }

  get columns(): number {
    return this.out.columns;
  }

  /** One row stays free, for the cursor. */
  get rows(): number {
    return this.out.rows - 1;
  }

  show(lines: readonly string[]): void {
    // Lines that wrapped when the window changed cannot be counted: begin with an empty one.
    const isSame = this.#columns === this.columns && this.#height <= this.rows;
    const up = this.#height === 0 ? '' : isSame ? `\u001B[${this.#height}A\r` : CLEAR;
    this.#height = lines.length;
    this.#columns = this.columns;
    this.out.write(`${up}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`);
  }

  close(): void {
    this.out.write(SHOW);
  }
}

/** Whether a picture fits and makes sense; if not, plain lines do. */
export function isStage(out: NodeJS.WriteStream): boolean {
  return out.isTTY && process.env['TERM'] !== 'dumb' && out.columns >= 76 && out.rows >= 20;
}
