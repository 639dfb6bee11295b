import { afterEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { Operator } from '../e2e/operator.js';
import { checkoutRoot } from '../kit/checkout.js';
import { uniqueNamespace } from '../kit/namespace.js';
import { type NodeProcess, spawnNode } from '../kit/processes.js';
import { sharedConnect } from '../kit/shared-zookeeper.js';

const SCRIPT = join(checkoutRoot, 'tools/start.mjs');

/** As `npm start` does it, without a terminal. */
describe('the demo', () => {
  let demo: NodeProcess;
  afterEach(() => demo.end('SIGKILL'));

  it.each([
    ['in this process on the memory registry', []],
    ['with processes on a real ZooKeeper', ['--zookeeper']],
  ])(
    'plays to its end %s',
    async (_, args) => {
      demo = await spawnNode(SCRIPT, args);
      await demo.line(/^ all well$/, { timeout: 80_000 });
      expect(await demo.exited).toEqual({ code: 0, signal: null });
      expect(demo.errors).toEqual([]);
      const summary = demo.lines.slice(demo.lines.indexOf('') + 1).join('\n');
      expect(summary).toMatch(/^ changes +9, settled after each$/m);
      expect(summary).toMatch(/^ moves +\d+, the fewest possible 72$/m);
      expect(summary).toMatch(/^ overlaps +0: instances were asked [\d,]{5,} times/m);
      expect(summary).toMatch(/^ +in good order \d\.\d\d s/m);
      expect(summary).toMatch(/^ +after a crash \d\.\d\d s/m);
      expect(demo.lines.filter((line) => /failed|unexpectedly/.test(line))).toEqual([]);
      // Plain lines: nothing in it is for a terminal only.
      expect(demo.lines.join('\n')).not.toMatch(/[\u001B\r]/);
    },
    90_000,
  );

  it.each([
    ['on the memory registry', []],
    ['on ZooKeeper', ['--zookeeper']],
  ])(
    'ends in good order when it is interrupted %s',
    async (_, args) => {
      demo = await spawnNode(SCRIPT, args);
      await demo.line(/ben joins/, { timeout: 30_000 });
      expect(await demo.end('SIGINT')).toEqual({ code: 130, signal: null });
      await demo.line(/all instances have left/);
    },
    60_000,
  );

  it('leaves nothing on an ensemble that it was given', async () => {
    const connect = `${sharedConnect()}/${uniqueNamespace('given')}`;
    demo = await spawnNode(SCRIPT, ['--zookeeper'], { env: { ZOOKEEPER_CONNECT: connect } });
    await demo.line(/ben joins/, { timeout: 30_000 });
    const operator = await Operator.open(connect);
    expect(await operator.children('/')).toEqual([expect.stringMatching(/^demo-/)]);
    expect(await demo.end('SIGINT')).toEqual({ code: 130, signal: null });
    expect(await operator.children('/')).toEqual([]);
    await operator.close();
  }, 60_000);

  it('names its options when it does not know one', async () => {
    demo = await spawnNode(SCRIPT, ['--zoo']);
    expect(await demo.exited).toEqual({ code: 2, signal: null });
    expect(demo.errors.join('\n')).toContain('npm start -- --zookeeper');
  });
});
