import { describe, expect, it } from '@jest/globals';
import { eventually } from './eventually.js';

describe('eventually', () => {
  it('gives back the first answer that is not false or null', async () => {
    const answers = [false, null, 'found'];
    await expect(eventually(() => answers.shift() ?? null, { interval: 1 })).resolves.toBe('found');
  });

  it('takes an assertion that stops throwing', async () => {
    let tries = 0;
    await eventually(
      () => {
        tries += 1;
        expect(tries).toBe(3);
      },
      { interval: 1 },
    );
    expect(tries).toBe(3);
  });

  it('throws the last failure with its label', async () => {
    let tries = 0;
    const answer = eventually(
      () => {
        tries += 1;
        throw new RangeError(`try ${tries}`);
      },
      { timeout: 30, interval: 5, label: 'the moon' },
    );
    await expect(answer).rejects.toThrow(RangeError);
    await expect(answer).rejects.toThrow(`the moon: not within 30 ms: try ${tries}`);
  });

  it('does not wait longer for a probe that hangs', async () => {
    const answer = eventually(() => new Promise<void>(() => {}), { timeout: 30, interval: 5 });
    await expect(answer).rejects.toThrow('the probe did not answer');
  });
});
