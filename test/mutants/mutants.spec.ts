import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '../kit/checkout.js';
import { type Break, breaks, harmless } from './breaks.js';
import { hunt } from './hunt.js';
import { applyBreak, makeMutant } from './mutant.js';

const all = [...breaks, ...harmless];
const named = (name: string): Break => breaks.find((broken) => broken.name === name)!;
const source = (file: string): Promise<string> => readFile(join(checkoutRoot, file), 'utf8');

describe('deliberate breaks', () => {
  it.each(all.map((broken) => [broken.name, broken] as const))(
    '%s fits the sources',
    async (_, broken) => {
      for (const [file, text] of await applyBreak(broken))
        expect(text).not.toBe(await source(file));
    },
  );

  it('are many, and have a name each', () => {
    expect(breaks.length).toBeGreaterThanOrEqual(28);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  it('that do not fit any more are told with their name and file', async () => {
    const edit = { file: 'lib/coordinator/plan.ts', replacement: '' };
    const broken = (search: string): Break => ({
      name: 'outdated',
      breaks: '',
      edits: [{ ...edit, search }],
    });
    await expect(applyBreak(broken('not there'))).rejects.toThrow(
      /outdated does not fit lib\/coordinator\/plan\.ts: .* is not there any more/,
    );
    await expect(applyBreak(broken('readonly'))).rejects.toThrow(/is there \d+ times/);
  });

  it.each([
    ['throws', 'return undefinedThing;'],
    [
      'is caught',
      'try { this.notThere(); } catch (error) { this.#parts.environment.log.error(String(error)); }',
    ],
  ])(
    'that are wrong themselves are named instead of caught: the mistake %s',
    async (_, mistake) => {
      const search = '  start(): Promise<void> {\n';
      const file = 'lib/coordinator/coordinator.ts';
      const edits = [{ file, search, replacement: `${search}${mistake}\n` }];
      const script = await makeMutant({ name: 'botched', breaks: '', edits });
      await expect(
        hunt({ name: 'botched', script, from: 1, maxSeeds: 2, patience: 25_000 }),
      ).rejects.toThrow(
        /^the break botched is itself broken: .*(is not defined|is not a function)/,
      );
    },
  );

  it('are caught, and leave the sources as they are', async () => {
    const broken = named('granted-before-acknowledgement');
    const [{ file }] = broken.edits as [Break['edits'][number]];
    const before = await source(file);
    const script = await makeMutant(broken);
    const caught = await hunt({
      name: broken.name,
      script,
      from: 1,
      maxSeeds: 50,
      patience: 25_000,
    });
    // Which of the two comes first is up to what the seeds draw.
    expect(['a shard is never held by two', 'nobody works under two totals at once']).toContain(
      caught?.by,
    );
    expect(await source(file)).toBe(before);
  });
});
