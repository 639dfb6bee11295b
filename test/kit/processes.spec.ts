import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutRoot } from './checkout.js';
import { eventually } from './eventually.js';
import { spawnNode, type NodeProcess } from './processes.js';

const fixture = (name: string) => join(checkoutRoot, 'test/kit/fixtures', name);

interface Answer {
  heard: string;
  flavour?: string;
}

describe('spawnNode', () => {
  let child: NodeProcess;

  afterEach(() => child.end('SIGKILL'));

  it('talks line by line', async () => {
    child = await spawnNode(fixture('talker.ts'), ['me'], { env: { FLAVOUR: 'plum' } });
    expect(await child.line(/^hello/)).toBe('hello from me');
    child.send('one');
    const answer = await child.message<Answer>(({ heard }) => heard === 'one');
    expect(answer).toEqual({ heard: 'one', flavour: 'plum' });
    expect(child.messages).toEqual([answer]);
  });

  it('tells how it ended, and at once that an awaited line will not come', async () => {
    child = await spawnNode(fixture('talker.ts'));
    const never = child.line(/never/, { timeout: 20_000 });
    child.send('go');
    await expect(never).rejects.toThrow('it ended without the awaited line');
    await expect(never).rejects.toThrow('hello from nobody');
    expect(await child.exited).toEqual({ code: 3, signal: null });
  });

  it('freezes and resumes', async () => {
    child = await spawnNode(fixture('talker.ts'));
    await child.line(/hello/);
    await child.freeze();
    child.send('one');
    await expect(child.line(/one/, { timeout: 100 })).rejects.toThrow('not within 100 ms');
    child.resume();
    await child.line(/one/);
    await child.freeze();
    expect(await child.end()).toEqual({ code: null, signal: 'SIGTERM' });
  });
});

describe('the reaper', () => {
  it.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
    'leaves nothing behind when the owner ends by %s',
    async (signal) => {
      const owner = await spawnNode(fixture('owner-of-everything.ts'));
      const { pids, folders } = await owner.message<{ pids: number[]; folders: string[] }>(
        () => true,
        {
          timeout: 25_000,
        },
      );
      expect(pids.map(isAlive)).toEqual([true, true, true]);
      expect(folders.map(existsSync)).toEqual([true, true]);
      await owner.end(signal);
      await eventually(() => expect(pids.map(isAlive)).toEqual([false, false, false]));
      await eventually(() => expect(folders.map(existsSync)).toEqual([false, false]));
    },
  );
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
