import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { failureCode } from '../../test/conformance/recording.js';
import { RegistryWorld } from '../../test/kit/registry-world.js';
import type { MemoryRegistry } from './memory/index.js';
import { ANY_VERSION } from './registry.js';
import { sequenceOf, SureWrites } from './sure-writes.js';

const bytes = (text: string): Buffer => Buffer.from(text);

async function open(servers = 1) {
  const world = new RegistryWorld({ servers });
  const registry = await world.open();
  const sure = new SureWrites(registry, world.environment);
  return { world, registry, sure };
}

describe('sure writes', () => {
  it('do in one request what needs no second one', async () => {
    const { world, registry, sure } = await open();
    const kinds: string[] = [];
    const send = registry.link.send.bind(registry.link);
    registry.link.send = (request) => {
      kinds.push(request.command.kind);
      send(request);
    };
    await world.run(sure.create('/a', bytes('1')));
    await world.run(sure.set('/a', bytes('2'), 0));
    await world.run(sure.createSequential('/a', 'n-', bytes('')));
    expect(kinds).toEqual(['create', 'set', 'create']);
  });

  it('name a sequential node so that it can be found, numbered by the store', async () => {
    const { world, registry, sure } = await open();
    await world.run(registry.create('/a', bytes('')));
    const first = await world.run(sure.createSequential('/a', 'n-', bytes('x')));
    const second = await world.run(sure.createSequential('/a', 'n-', bytes('x')));
    expect(first).toMatch(/^\/a\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-n-\d{10}$/);
    expect([first, second].map(sequenceOf)).toEqual([0, 1]);
    expect((await world.run(registry.get(first))).stat.owner).toBe(registry.session.id);
  });

  it('make parents where they are asked to', async () => {
    const { world, registry, sure } = await open();
    registry.link.loseNextAnswer();
    await world.run(sure.create('/a/b', bytes('x'), { parents: true }));
    registry.link.loseNextRequest();
    const path = await world.run(sure.createSequential('/c', 'n-', bytes(''), { parents: true }));
    expect(await world.run(registry.children('/c'))).toEqual([path.slice('/c/'.length)]);
  });

  it.each([0, 1, 2, 3])('have one effect when %i answers in a row are lost', async (losses) => {
    const { world, registry, sure } = await open();
    await world.run(registry.create('/a', bytes('0')));
    const loseAgain = registry.session$.subscribe(({ state }) => {
      if (state === 'connected' && losses-- > 0) registry.link.loseNextAnswer();
    });
    const stat = await world.run(sure.set('/a', bytes('1'), 0));
    loseAgain.unsubscribe();
    expect(stat.version).toBe(1);
  });

  it('say what the store says', async () => {
    const { world, registry, sure } = await open();
    await world.run(registry.create('/a', bytes('0')));
    expect(await world.run(failureCode(sure.create('/a', bytes('0'))))).toBe('NODE_EXISTS');
    expect(await world.run(failureCode(sure.create('/b/c', bytes(''))))).toBe('NO_NODE');
    expect(await world.run(failureCode(sure.set('/a', bytes(''), 7)))).toBe('BAD_VERSION');
    expect(await world.run(failureCode(sure.set('/b', bytes(''), 0)))).toBe('NO_NODE');
    expect(await world.run(failureCode(sure.createSequential('/b', 'n', bytes(''))))).toBe(
      'NO_NODE',
    );
    await world.run(registry.create('/a/child', bytes('')));
    const { createdId } = (await world.run(registry.get('/a'))).stat;
    expect(await world.run(failureCode(sure.delete('/a', createdId)))).toBe('NOT_EMPTY');
  });

  it('cannot be sure of a set that does not name the version it replaces', async () => {
    const { world, registry, sure } = await open();
    await world.run(registry.create('/a', bytes('0')));
    const code = failureCode(sure.set('/a', bytes('1'), ANY_VERSION));
    expect(await world.run(code)).toBe('INVALID');
  });

  it('say BAD_VERSION when the node has moved on, be it after our own write', async () => {
    const { world, registry, sure } = await open();
    const other = await world.open();
    await world.run(registry.create('/a', bytes('0')));
    registry.link.loseNextAnswer();
    world.cluster.commits$.subscribe(({ change }) => {
      if (change.kind !== 'set' || change.data.toString() !== 'ours') return;
      void other.set('/a', bytes('theirs'), 1);
    });
    expect(await world.run(failureCode(sure.set('/a', bytes('ours'), 0)))).toBe('BAD_VERSION');
    expect((await world.run(registry.get('/a'))).data.toString()).toBe('theirs');
  });

  it('look on a server that is up to date', async () => {
    const { world, registry, sure } = await open(2);
    const [first, second] = world.cluster.servers;
    const other = await world.open();
    await world.run(other.create('/a', bytes('x')));
    const { createdId } = (await world.run(other.get('/a'))).stat;
    // The session is lost with the answer, and the next one finds a server that has not seen the node.
    second!.lag(200);
    await world.run(other.delete('/a', 0));
    await world.run(other.create('/a', bytes('y')));
    const successor = (await world.run(other.get('/a'))).stat.createdId;
    expect(successor).not.toBe(createdId);
    registry.link.loseNextRequest();
    const deleted = sure.delete('/a', successor, { timeout: 60_000 });
    registry.link.cut();
    await world.time.advance(100);
    registry.link.expire();
    first!.stop();
    registry.link.heal();
    await world.run(deleted);
    first!.start();
    await world.run(other.sync('/a'));
    expect(await world.run(other.exists('/a'))).toBeUndefined();
  });

  it('end at their deadline, counted over all attempts', async () => {
    const { world, registry, sure } = await open();
    registry.link.cut();
    await world.time.settle();
    const started = world.time.now;
    const code = failureCode(sure.create('/a', bytes('x'), { timeout: 2_500 }));
    expect(await world.run(code)).toBe('TIMED_OUT');
    expect(world.time.now - started).toBe(2_500);
  });

  it('end by their signal', async () => {
    const { world, registry, sure } = await open();
    registry.link.cut();
    const controller = new AbortController();
    const code = failureCode(sure.create('/a', bytes('x'), { signal: controller.signal }));
    await world.time.advance(500);
    controller.abort();
    expect(await world.run(code)).toBe('ABORTED');
  });

  it('without a deadline go on until there is a store again', async () => {
    const { world, registry, sure } = await open();
    const created = sure.create('/a', bytes('x'));
    registry.link.cut();
    await world.time.advance(60_000);
    registry.link.heal();
    await world.run(created);
    expect((await world.run(registry.get('/a'))).stat.version).toBe(0);
  });

  it('have exactly one effect, whatever is lost and whenever', async () => {
    const fault = fc.record({
      kind: fc.constantFrom('answer', 'request', 'cut', 'freeze', 'expire', 'reconnect', 'stop'),
      at: fc.nat(400),
      for: fc.integer({ min: 1, max: 1_500 }),
    });
    const kind = fc.constantFrom('create', 'sequential', 'set', 'delete');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fault, { maxLength: 6 }),
        kind,
        fc.nat(),
        async (faults, op, seed) => {
          const world = new RegistryWorld({ servers: 3, seed, latency: () => 5 + (seed % 7) });
          const registry = await world.open();
          const sure = new SureWrites(registry, world.environment);
          await world.run(registry.create('/p', bytes('0')));
          const { createdId } = (await world.run(registry.get('/p'))).stat;
          let effects = 0;
          world.cluster.commits$.subscribe(({ by }) => (effects += by === undefined ? 0 : 1));
          for (const { kind: what, at, for: duration } of faults) {
            world.clock.setTimer(() => disturb(world, registry, what, duration), at);
          }
          const write = {
            create: () => sure.create('/a', bytes('nonce')),
            sequential: () => sure.createSequential('/p', 'n-', bytes('')),
            set: () => sure.set('/p', bytes('nonce'), 0),
            delete: () => sure.delete('/p', createdId),
          }[op];
          await world.run<unknown>(write());
          await world.time.advance(5_000);
          // An ephemeral node dies with its session, so only a sequential create may have to be done again.
          if (op === 'sequential') expect(effects).toBeGreaterThanOrEqual(1);
          else expect(effects).toBe(1);
        },
      ),
      { numRuns: 150 },
    );
  });
});

function disturb(
  { cluster, clock }: RegistryWorld,
  registry: MemoryRegistry,
  kind: string,
  duration: number,
): void {
  const { link } = registry;
  const later = (undo: () => void): void => void clock.setTimer(undo, duration);
  switch (kind) {
    case 'answer':
      return link.loseNextAnswer();
    case 'request':
      return link.loseNextRequest();
    case 'cut':
      link.cut();
      return later(() => link.heal());
    case 'freeze':
      link.freeze();
      return later(() => link.thaw());
    case 'expire':
      return link.expire();
    case 'reconnect':
      return registry.reconnect();
    default: {
      const server = cluster.servers[link.server ?? 0];
      server?.stop();
      return later(() => server?.start());
    }
  }
}
