import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { Election } from './election.js';

const LATCHES = '/group/leader/election/latch';

class Candidate {
  readonly heard: string[] = [];
  readonly election: Election;

  constructor(
    readonly name: string,
    readonly client: WorldClient,
  ) {
    const { registry, environment, session } = client;
    this.election = new Election(registry, environment, LATCHES, Buffer.from(name), session, {
      elected: () => this.heard.push('elected'),
      deposed: () => this.heard.push('deposed'),
    });
  }

  get link() {
    return this.client.registry.link;
  }
}

let world: MemoryWorld;

beforeEach(() => {
  world = new MemoryWorld();
});

/** Stands for election and has its place in the line. */
async function stand(name: string): Promise<Candidate> {
  const candidate = new Candidate(name, await world.client(name));
  candidate.election.start();
  await world.time.settle();
  return candidate;
}

/** The candidates in the line, first to last. */
async function line(): Promise<string[]> {
  const names = await world.children(LATCHES);
  const ordered = names.toSorted((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
  return Promise.all(ordered.map(async (name) => (await world.read(`${LATCHES}/${name}`))!));
}

async function pathOf(name: string): Promise<string> {
  for (const child of await world.children(LATCHES)) {
    if ((await world.read(`${LATCHES}/${child}`)) === name) return `${LATCHES}/${child}`;
  }
  throw new Error(`${name} does not stand in line`);
}

describe('the line', () => {
  it('is led by whoever came first, whatever the names', async () => {
    const candidates: Candidate[] = [];
    for (const name of ['c', 'a', 'e', 'b', 'd']) candidates.push(await stand(name));
    expect(await line()).toEqual(['c', 'a', 'e', 'b', 'd']);
    for (const candidate of candidates) {
      expect(candidate.heard).toEqual(['elected']);
      expect(candidate.election.isFirst).toBe(true);
      for (const other of candidates) {
        if (other !== candidate && other.heard.length > 0)
          expect(other.election.isFirst).toBe(false);
      }
      await candidate.election.resign();
      await world.time.settle();
      expect(candidate.heard).toEqual(['elected']);
    }
    expect(await line()).toEqual([]);
  });

  it('wakes one when the leader goes, not a herd', async () => {
    const candidates: Candidate[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) candidates.push(await stand(name));
    const before = candidates.map(({ client }) => client.requests.length);
    await candidates[0]!.election.resign();
    await world.time.settle();
    const sent = candidates.map(({ client }, index) => client.requests.length - before[index]!);
    expect(candidates[1]!.heard).toEqual(['elected']);
    expect(sent.slice(2)).toEqual([0, 0, 0]);
    // One delete; and five reads: two of the view, the line, whether ours is ours, and the watch on it.
    expect(sent[0]).toBe(1);
    expect(sent[1]).toBeLessThanOrEqual(5);
  });

  it('closes up when one in the middle goes, and nobody leads by that', async () => {
    const [a, b, c] = [await stand('a'), await stand('b'), await stand('c')];
    await b.election.resign();
    await world.time.settle();
    expect(c.heard).toEqual([]);
    await a.election.resign();
    await world.time.settle();
    expect(c.heard).toEqual(['elected']);
  });

  it('is led by the next when the leader’s session ends', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    a.link.crash();
    await world.time.advance(9_999);
    expect(b.heard).toEqual([]);
    await world.time.advance(1);
    expect(b.heard).toEqual(['elected']);
  });
});

describe('entering', () => {
  it('leaves one node when the answer was lost', async () => {
    const candidate = new Candidate('a', await world.client('a'));
    candidate.link.loseNextAnswer();
    candidate.election.start();
    await world.time.settle();
    expect(await line()).toEqual(['a']);
    expect(candidate.heard).toEqual(['elected']);
  });

  it('is done once, however often it is started', async () => {
    const a = await stand('a');
    a.election.start();
    await world.time.settle();
    expect(await line()).toEqual(['a']);
  });
});

describe('whoever waits in line', () => {
  it('and loses the session never leads', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    b.link.expire();
    await world.time.settle();
    expect(b.client.registry.session.id).not.toBe(b.client.session);
    await a.election.resign();
    await world.time.advance(60_000);
    expect(b.heard).toEqual([]);
    expect(b.election.isFirst).toBe(false);
    expect(await line()).toEqual([]);
  });

  it('and loses the session without hearing of it never leads, though the predecessor goes', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    b.link.freeze();
    b.link.expire();
    await a.election.resign();
    await world.time.settle();
    b.link.thaw();
    await world.time.advance(60_000);
    expect(b.heard).toEqual([]);
    expect(await line()).toEqual([]);
  });

  it('goes to the end of the line if somebody deleted its node', async () => {
    const [a, b, c] = [await stand('a'), await stand('b'), await stand('c')];
    await world.remove(await pathOf('b'));
    await world.time.settle();
    expect(await line()).toEqual(['a', 'c', 'b']);
    await a.election.resign();
    await world.time.settle();
    expect([b.heard, c.heard]).toEqual([[], ['elected']]);
    await c.election.resign();
    await world.time.settle();
    expect(b.heard).toEqual(['elected']);
  });

  it('does not lead by a node that is not its own', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    const path = await pathOf('b');
    b.link.freeze();
    await world.remove(path);
    await world.put(path, 'somebody');
    await a.election.resign();
    b.link.thaw();
    await world.time.settle();
    expect(await line()).toEqual(['b']);
    expect(await pathOf('b')).not.toBe(path);
    expect(b.heard).toEqual(['elected']);
  });

  it('survives a broken connection', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    b.link.cut();
    await world.time.advance(1_000);
    await a.election.resign();
    await world.time.advance(1_000);
    expect(b.heard).toEqual([]);
    b.link.heal();
    await world.time.settle();
    expect(b.heard).toEqual(['elected']);
    expect(await line()).toEqual(['b']);
  });
});

describe('whoever leads', () => {
  it('is deposed if somebody deletes its node, once, and another leads', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    await world.remove(await pathOf('a'));
    await world.time.advance(10_000);
    expect(a.heard).toEqual(['elected', 'deposed']);
    expect(a.election.isFirst).toBe(false);
    expect(b.heard).toEqual(['elected']);
    // It does not stand again by itself: whoever runs it has to end its word first.
    expect(await line()).toEqual(['b']);
  });

  it('finds by a look that its node is gone, before it hears of it', async () => {
    const a = await stand('a');
    const { session } = a.client;
    expect(await a.election.isLatched({ session })).toBe(true);
    const path = await pathOf('a');
    // The event is held up, but the look is answered by what has been committed.
    const { registry } = a.client;
    const notified = registry.notified.bind(registry);
    registry.notified = () => {};
    await world.remove(path);
    expect(await a.election.isLatched({ session })).toBe(false);
    registry.notified = notified;
  });

  it('does not take the node of another session for its own', async () => {
    const a = await stand('a');
    const path = await pathOf('a');
    a.client.registry.notified = () => {};
    await world.remove(path);
    await world.put(path, 'a', 'ephemeral');
    expect(await a.election.isLatched({ session: a.client.session })).toBe(false);
  });

  it('is not asked for its node where it does not lead', async () => {
    const [, b] = [await stand('a'), await stand('b')];
    await world.remove(await pathOf('b'));
    expect(await b.election.isLatched({ session: b.client.session })).toBe(true);
  });
});

describe('resigning', () => {
  it('of the first is sent before whatever its caller sends next', async () => {
    const a = await stand('a');
    const b = await stand('b');
    const { registry, session } = a.client;
    const resigned = a.election.resign();
    const seen = registry.children(LATCHES, { session });
    expect(await seen).toHaveLength(1);
    await resigned;
    await world.time.settle();
    expect([a.heard, b.heard]).toEqual([['elected'], ['elected']]);
  });

  it.each([
    ['the request is lost', (candidate: Candidate) => candidate.link.loseNextRequest()],
    ['the answer is lost', (candidate: Candidate) => candidate.link.loseNextAnswer()],
  ])('succeeds though at first %s', async (_, disturb) => {
    const [a, b] = [await stand('a'), await stand('b')];
    disturb(a);
    await a.election.resign();
    await world.time.settle();
    expect(await line()).toEqual(['b']);
    expect(b.heard).toEqual(['elected']);
  });

  it('goes on until the connection is back, also beyond the time of one operation', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    a.link.delay(25_000);
    a.client.registry.reconnect = () => {};
    const resigned = a.election.resign();
    expect(a.election.isFirst).toBe(false);
    await world.time.advance(24_000);
    a.link.delay(0);
    await world.time.advance(60_000);
    await resigned;
    expect(await line()).toEqual(['b']);
    expect(b.heard).toEqual(['elected']);
  });

  it('ends with the session, which takes the node along', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    a.link.cut();
    const resigned = a.election.resign();
    await world.time.advance(10_000);
    expect(b.heard).toEqual(['elected']);
    a.link.heal();
    await world.time.settle();
    await resigned;
  });

  it('leaves no node behind when it comes while the node is being made', async () => {
    const a = new Candidate('a', await world.client('a'));
    a.link.freeze('down');
    a.election.start();
    await world.time.settle();
    expect(await line()).toEqual(['a']);
    const resigned = a.election.resign();
    a.link.thaw();
    await world.time.settle();
    await resigned;
    expect(await line()).toEqual([]);
    expect(a.heard).toEqual([]);
  });

  it('leaves the line', async () => {
    const [a, b] = [await stand('a'), await stand('b')];
    await b.election.resign();
    expect(await line()).toEqual(['a']);
    await a.election.resign();
    await world.time.settle();
    expect(b.heard).toEqual([]);
  });

  it('is nothing where nobody stood', async () => {
    const a = new Candidate('a', await world.client('a'));
    await a.election.resign();
    expect(a.client.requests).toEqual([]);
  });
});

it('logs nothing in all of an ordinary life, the end of the session included', async () => {
  const [a, b] = [await stand('a'), await stand('b')];
  await a.election.resign();
  await world.time.settle();
  b.election.close();
  await b.client.registry.close();
  await world.time.settle();
  expect([...a.client.logged, ...b.client.logged]).toEqual([]);
});
