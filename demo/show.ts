import type { WriteStream } from 'node:tty';
import type { Audit } from './audit.js';
import { now } from './clock.js';
import { colours, draw, inOneLine, noColours } from './picture.js';
import type { Audience, Outcome } from './scenario.js';
import { Screen } from './screen.js';
import type { Stage } from './stage.js';

/** How the audience gets to see it. */
export interface Show extends Audience {
  /** The stage is set. */
  opens(stage: Stage): void;
  tell(message: string): void;
  /** Nothing more is shown but, where there is a picture, a last title. */
  close(title?: string): void;
}

const FRAME = 100;

/** Running sums of what was seen. */
function scoreOf(outcomes: readonly Outcome[], audit: Audit): string {
  const sum = (key: 'moves' | 'fewest') => outcomes.reduce((total, one) => total + one[key], 0);
  return `moves ${sum('moves')} (fewest possible ${sum('fewest')}) · overlaps ${audit.overlaps.length} · asked ${audit.questions.toLocaleString('en')} times`;
}

function said({ hasSettled, kind, moves, fewest, longestGap }: Outcome): string {
  if (!hasSettled) return 'NOT settled';
  if (kind === 'start') return 'settled: all shards have their first owner';
  return `settled: ${moves} moved (at least ${fewest} had to), ${inSeconds(longestGap)} without an owner`;
}

export const inSeconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(2)} s`;

/** A picture that moves. */
export class MovingPicture implements Show {
  readonly #screen: Screen;
  readonly #paint = process.env['NO_COLOR'] ? noColours : colours;
  readonly #log: string[] = [];
  readonly #outcomes: Outcome[] = [];
  #start = now();
  #stage: Stage | undefined;
  #title = '';
  #frames: NodeJS.Timeout | undefined;

  constructor(
    out: WriteStream,
    private readonly audit: Audit,
  ) {
    this.#screen = new Screen(out);
  }

  opens(stage: Stage): void {
    this.#stage = stage;
    this.#start = now();
    this.#frames = setInterval(() => this.#draw(), FRAME);
  }

  begins(title: string): void {
    this.#title = title;
    this.tell(title);
  }

  ended(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    this.tell(`  ${said(outcome)}`);
  }

  tell(message: string): void {
    const seconds = ((now() - this.#start) / 1_000).toFixed(1).padStart(5);
    this.#log.push(`${seconds}  ${message}`);
  }

  close(title = ''): void {
    clearInterval(this.#frames);
    this.#title = title;
    this.#draw();
    this.#screen.close();
  }

  #draw(): void {
    const at = now();
    if (!this.#stage) return;
    const { setting, cast } = this.#stage;
    const scene = {
      setting,
      cast,
      at,
      title: this.#title,
      audit: this.audit,
      elapsed: (at - this.#start) / 1_000,
      log: this.#log,
      score: scoreOf(this.#outcomes, this.audit),
    };
    const { columns, rows } = this.#screen;
    this.#screen.show(draw(scene, this.#paint, columns, Math.min(rows, MOST_ROWS)));
  }
}

const MOST_ROWS = 23;

/** One plain line for each thing that happens. */
export class PlainLines implements Show {
  #start = now();
  #stage: Stage | undefined;

  constructor(
    private readonly out: NodeJS.WritableStream,
    private readonly audit: Audit,
  ) {}

  opens(stage: Stage): void {
    this.#stage = stage;
    this.#start = now();
    this.out.write(`${this.audit.total} shards · ${stage.setting}\n`);
  }

  begins(title: string): void {
    this.tell(title);
  }

  ended(outcome: Outcome): void {
    this.tell(`  ${said(outcome)}`);
    if (this.#stage) this.tell(`  ${inOneLine(this.#stage.cast, this.audit)}`);
  }

  tell(message: string): void {
    const seconds = ((now() - this.#start) / 1_000).toFixed(1).padStart(5);
    this.out.write(`${seconds}  ${message}\n`);
  }

  close(): void {}
}
