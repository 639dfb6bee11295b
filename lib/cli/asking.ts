import type { ChangeOptions, ChangePreview, ChangeResult } from '../admin/index.js';
import { RefusedError } from '../admin/index.js';
import type { Terminal } from './terminal.js';
import type { Answer, Context } from './verb.js';
import { predictionLine } from './views/prediction.view.js';
import { configurationLines } from './views/status.view.js';
import { paragraph } from './views/table.js';
import { plain } from './views/text.js';

export function assertCanAsk({ canAsk }: Terminal, isSure: boolean): void {
  if (isSure || canAsk) return;
  throw new RefusedError('This changes something and there is no terminal to ask: add --yes');
}

/** Asks whether to go on, unless that was said with the command. */
export async function isWanted({ terminal, given }: Context, question: string): Promise<boolean> {
  return given.flag('yes') || terminal.ask(`${question} [y/N] `);
}

/** Makes a change, after showing what it would do, and says what became of it. */
export async function change(
  context: Context,
  make: (options: ChangeOptions) => Promise<ChangeResult>,
): Promise<Answer> {
  const { given, terminal } = context;
  let isDeclined = false;
  const confirm = async (preview: ChangePreview): Promise<boolean> => {
    terminal.err(`${previewLines(preview, terminal).join('\n')}\n`);
    const isMeant = await isWanted(context, 'Do this?');
    isDeclined = !isMeant;
    return isMeant;
  };
  const result = await make({
    force: given.flag('force'),
    ...(given.flag('yes') ? {} : { confirm }),
  });
  if (isDeclined) throw new RefusedError('Called off; nothing was changed');
  return { json: result, lines: resultLines(result, terminal) };
}

function previewLines({ warnings, prediction }: ChangePreview, terminal: Terminal): string[] {
  return [
    ...paragraph(`${plain(predictionLine(prediction))}.`, 0, terminal),
    ...warningLines(warnings, terminal),
  ];
}

function resultLines(
  { changed, warnings, configuration }: ChangeResult,
  terminal: Terminal,
): string[] {
  return [
    ...warningLines(warnings, terminal),
    changed ? 'The configuration was changed to:' : 'Nothing to change: it is so already.',
    ...(changed ? configurationLines(configuration, terminal) : []),
  ];
}

function warningLines(warnings: readonly string[], terminal: Terminal): string[] {
  return warnings.flatMap((warning) => paragraph(`Beware: ${plain(warning)}`, 0, terminal));
}
