import { appendFileSync } from 'node:fs';
import type { MemberProcess } from '../e2e/member.js';

/** Keeps what a process says for whoever has to find out why, but for its beats: there are too many. */
export function keepLines(process: MemberProcess, file: string): void {
  const keep = (text: string): void => {
    if (!text.startsWith('{"k":"beat"')) appendFileSync(file, `${text}\n`);
  };
  process.onLine(keep);
  void process.exited.then(() => process.errors.forEach(keep));
}
