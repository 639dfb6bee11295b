/**
 * An operator with access to a group's nodes, in a process of its own: whoever makes the faults has the
 * proxies in its event loop, which a native client on a frozen server could hold up.
 * One JSON line on stdin for each order; the same line on stdout when it is done.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { registryErrorCode } from '../../lib/registry/registry.errors.js';
import { Operator } from '../e2e/operator.js';
import type { Order } from './scene.js';

const [connect = '', namespace = ''] = process.argv.slice(2);
const AGAIN_AFTER = 200;

async function obey(order: Order): Promise<void> {
  if ('remove' in order) return operator.delete(`/${namespace}/instances/${order.remove}`);
  const path = `/${namespace}/config`;
  const { data } = await operator.get(path);
  const config = { ...(JSON.parse(data.toString()) as object), total: order.total };
  await operator.write(path, JSON.stringify(config));
}

/** Whatever is ordered can be done twice without harm, so a lost answer is no problem. */
async function obeyForSure(order: Order): Promise<void> {
  for (;;) {
    try {
      return await obey(order);
    } catch (error) {
      if (registryErrorCode(error) === 'NO_NODE') return;
      await sleep(AGAIN_AFTER);
    }
  }
}

const operator = await Operator.open(connect);
createInterface({ input: process.stdin }).on('line', (line) => {
  void obeyForSure(JSON.parse(line) as Order).then(() => process.stdout.write(`${line}\n`));
});
