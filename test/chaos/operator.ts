/**
 * Changes the total of a group, as an operator would, in a process of its own: whoever makes the faults
 * has the proxies in its event loop, which a native client on a frozen server could hold up.
 * `{"total": 12}` on stdin; the same line on stdout when it is done.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Operator } from '../e2e/operator.js';

const [connect = '', namespace = ''] = process.argv.slice(2);
const AGAIN_AFTER = 200;

/** The same value over and over does no harm, so a lost answer is no problem. */
async function setTotal(total: number): Promise<void> {
  for (;;) {
    try {
      const path = `/${namespace}/config`;
      const { data } = await operator.get(path);
      const config = { ...(JSON.parse(data.toString()) as object), total };
      return await operator.write(path, JSON.stringify(config));
    } catch {
      await sleep(AGAIN_AFTER);
    }
  }
}

const operator = await Operator.open(connect);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { total } = JSON.parse(line) as { total: number };
  void setTotal(total).then(() => process.stdout.write(`${line}\n`));
});
process.stdout.write('{"ready":true}\n');
