/** The same with Curator's LeaderLatch where Debian's packages can be had, measured in the same run. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { checkoutRoot } from '../test/kit/checkout.js';
import { fetchDebianPackages } from '../test/kit/debian-packages.js';
import { uniqueNamespace } from '../test/kit/namespace.js';
import { locateZooKeeper } from '../test/kit/zookeeper-installation.js';
import type { Report } from './report.js';

const run = promisify(execFile);
const CACHE = join(checkoutRoot, '.cache', 'curator');
const PACKAGES = [
  'libcurator-client-java',
  'libcurator-framework-java',
  'libcurator-recipes-java',
  'libguava-java',
];
const JARS = ['curator-client', 'curator-framework', 'curator-recipes', 'guava'].map((name) =>
  join(CACHE, 'usr/share/java', `${name}.jar`),
);

interface Measured {
  readonly write: number;
  readonly read: number;
  readonly handOver: number;
}

export async function benchPeer(report: Report): Promise<void> {
  report.note(`Curator's LeaderLatch: ${report.rounds} rounds`);
  let measured: Measured;
  try {
    measured = await measure(report);
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    report.note(`  not measured: ${reason}`);
    return;
  }
  const unit = measured.write + measured.read;
  report.add({
    name: "Curator's LeaderLatch, hand-over, loopback",
    measured: measured.handOver,
    unit: 'ms',
    basis: `none: the peer; ${(measured.handOver / unit).toFixed(2)} × (W+R) of its own client, ${unit.toFixed(2)} ms`,
  });
}

async function measure({ connect, rounds }: Report): Promise<Measured> {
  const isFetched = (): boolean => JARS.every((jar) => existsSync(jar));
  const { java, classPath } = await locateZooKeeper();
  if (!isFetched()) await fetchDebianPackages(PACKAGES, CACHE, isFetched);
  const source = join(checkoutRoot, 'bench/LeaderLatchBench.java');
  const { stdout } = await run(java, [
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
    '-cp',
    [classPath, ...JARS].join(delimiter),
    source,
    connect,
    `/${uniqueNamespace('curator')}`,
    String(rounds),
  ]);
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measured;
}
