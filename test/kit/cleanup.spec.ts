import { describe, expect, it } from '@jest/globals';
import { Cleanup } from './cleanup.js';

describe('a cleanup', () => {
  const closed: string[] = [];
  const named = (name: string, fails = false) => ({
    close: async () => {
      closed.push(name);
      if (fails) throw new Error(`${name} stays open`);
    },
  });

  it('closes what was opened before something failed, last things first', async () => {
    closed.length = 0;
    const opening = Cleanup.unlessOpened(async (cleanup) => {
      cleanup.add(named('a'));
      cleanup.add(named('b'));
      throw new Error('c does not open');
    });
    await expect(opening).rejects.toThrow('c does not open');
    expect(closed).toEqual(['b', 'a']);
  });

  it('closes the rest where one fails to close, and says so', async () => {
    closed.length = 0;
    const cleanup = await Cleanup.unlessOpened(async (opened) => opened);
    cleanup.add(named('a'));
    cleanup.add(named('b', true));
    await expect(cleanup.close()).rejects.toThrow('not everything');
    await cleanup.close();
    expect(closed).toEqual(['b', 'a']);
  });
});
