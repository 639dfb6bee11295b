import type { Problem } from '../../admin/diagnose.js';
import type { Style } from '../terminal.js';
import { type Look, paragraph } from './table.js';
import { plain } from './text.js';

const STYLES: Readonly<Record<Problem['severity'], Style>> = {
  error: 'red',
  warning: 'yellow',
  note: 'dim',
};

export function problemLines(problems: readonly Problem[], look: Look): string[] {
  return problems.flatMap(({ severity, message, advice }) => [
    ...paragraph(`${severity}: ${plain(message)}`, 0, look).map((line) =>
      line.replace(new RegExp(`^${severity}:`), look.paint(STYLES[severity], `${severity}:`)),
    ),
    ...paragraph(plain(advice), 2, look),
  ]);
}

export function doctorLines(problems: readonly Problem[], look: Look): string[] {
  if (problems.length === 0) return [look.paint('green', 'Healthy: nothing was found.')];
  return problemLines(problems, look);
}
