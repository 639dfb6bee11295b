import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** How text gets its colour; gives it back as it is where there is none. */
export type Paint = (style: Style, text: string) => string;

/** All that the command knows of the terminal it runs in. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How many columns lines may have. */
  readonly width: number;
  /** Whether what is written can be redrawn. */
  readonly isLive: boolean;
  /** Whether there is somebody to ask. */
  readonly canAsk: boolean;
  readonly paint: Paint;
  out(text: string): void;
  err(text: string): void;
  ask(question: string): Promise<boolean>;
  /** Aborts with Ctrl-C, which from the first call on does nothing else. */
  interruption(): AbortSignal;
}

/** Tables are made for this many columns, and fewer where a terminal has fewer. */
const WIDTH = 80;
const NARROWEST = 40;

export const unpainted: Paint = (_, text) => text;
const painted: Paint = (style, text) => styleText(style, text);

export function processTerminal({ stdin, stdout, stderr, env } = process): Terminal {
  const hasColour = stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  let interruption: AbortController | undefined;
  return {
    environment: env,
    width: Math.max(NARROWEST, Math.min(stdout.columns ?? WIDTH, WIDTH)),
    isLive: stdout.isTTY,
    canAsk: stdin.isTTY && stderr.isTTY,
    paint: hasColour ? painted : unpainted,
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    ask: async (question) => {
      // On stderr, so that stdout has nothing but the answer of the command.
      const questions = createInterface({ input: stdin, output: stderr });
      const unanswered = new AbortController();
      questions.once('SIGINT', () => unanswered.abort());
      questions.once('close', () => unanswered.abort());
      try {
        const answer = await questions.question(question, { signal: unanswered.signal });
        return /^\s*y(es)?\s*$/i.test(answer);
      } catch {
        stderr.write('\n');
        return false;
      } finally {
        questions.close();
      }
    },
    interruption: () => {
      if (!interruption) {
        const controller = (interruption = new AbortController());
        process.once('SIGINT', () => controller.abort());
      }
      return interruption.signal;
    },
  };
}
