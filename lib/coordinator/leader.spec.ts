import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { StrategyInput } from '../interfaces/sharding-strategy.interface.js';
import { coordinatorOptions } from '../../test/kit/coordinators.js';
import { MemoryWorld, type WorldClient } from '../../test/kit/memory-world.js';
import { member, planOf, putPlan, wordsOf } from '../../test/kit/plans.js';
import { ConfigStore } from './config-store.js';
import { encodeConfig, type GroupConfig, newConfig } from './group-config.js';
import { decodeHistory, type HistoryEntry } from './history-entry.js';
import { Keyspace } from './keyspace.js';
import { Leader, type LeaderOptions } from './leader.js';
import { encodeLease } from './lease-keeper.js';
import { encodeMember, type MemberRecord } from './member-record.js';
import type { Plan } from './plan.js';
import { decodePlan, encodePlan } from './plan-codec.js';
import { PlanStore } from './plan-store.js';

const keyspace = new Keyspace('group');
const MARGIN = 500;

/** One leader `z1` on its own connection; the members are nodes that the operator writes. */
class Fixture {
  readonly world = new MemoryWorld();
  readonly heard: string[] = [];
  client!: WorldClient;
  plans!: PlanStore;
  leader!: Leader;

  async open(): Promise<this> {
    this.client = await this.world.client('z');
    return this;
  }

  async lead(change: Partial<LeaderOptions> = {}, client = this.client): Promise<void> {
    const { registry, environment, session } = client;
    this.plans = new PlanStore(registry, environment, keyspace.plan);
    const options = coordinatorOptions({ total: 4 });
    const config = new ConfigStore(registry, environment, keyspace.config, options);
    await config.open(false, { session });
    this.leader = new Leader(
      registry,
      environment,
      keyspace,
      this.plans,
      config,
      {
        id: 'z',
        incarnation: 'z1',
        session,
        sessionTimeout: 10_000,
        lease: 5_000,
        margin: MARGIN,
        rebalanceDelay: 0,
        namespace: 'group',
        strategies: {},
        seedView: false,
        ...change,
      },
      {
        inOffice: () => this.heard.push(`in office at ${this.world.time.now}`),
        overruled: () => this.heard.push('overruled'),
      },
    );
    this.leader.start();
    await this.world.time.settle();
  }

  async register(...records: MemberRecord[]): Promise<void> {
    for (const record of records) {
      const data = encodeMember(record, { ...record, ip: '10.0.0.1', pid: 1 }).toString();
      await this.world.put(keyspace.instance(record.id), data);
    }
    await this.world.time.settle();
  }

  async remove(id: string): Promise<void> {
    await this.world.remove(keyspace.instance(id));
    await this.world.time.settle();
  }

  async write(plan: Plan): Promise<void> {
    await putPlan(await this.world.operator(), keyspace.plan, plan);
    await this.world.time.settle();
  }

  async plan(): Promise<Plan> {
    return decodePlan((await (await this.world.operator()).get(keyspace.plan)).data);
  }

  /** The holders of the plan, without tokens. */
  async holders(): Promise<string> {
    return wordsOf(await this.plan())!
      .replaceAll(/:\d+/g, '')
      .replaceAll(/!\d+/g, '!');
  }
}

let f: Fixture;
beforeEach(async () => {
  f = await new Fixture().open();
});

const office = { id: 'y', incarnation: 'y1', lease: 5_000, term: 3, owed: 0 };

describe('a first plan', () => {
  it('is made at once in a new namespace', async () => {
    await f.register(member('a1'), member('b1'));
    await f.lead();
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    const { epoch, office: taken, settled } = await f.plan();
    expect(taken).toMatchObject({ id: 'z', incarnation: 'z1', term: epoch, lease: 5_000 });
    expect(settled).toBe(true);
    expect(f.heard).toEqual(['in office at 0']);
  });

  it('waits for whoever may hold something under a plan that was deleted', async () => {
    await f.register(member('a1'));
    const lease = (mayHold: boolean) => encodeLease({ renewal: 1, mayHold }).toString();
    await f.world.put(keyspace.lease('a'), lease(true));
    await f.lead();
    await f.world.time.advance(60_000);
    expect(await f.world.read(keyspace.plan)).toBeUndefined();
    await f.world.put(keyspace.lease('a'), lease(false));
    await f.world.time.advance(1_250);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
  });

  it('waits out those whose leases are gone', async () => {
    await f.register(member('a1', { lease: 7_000 }));
    await f.world.put(keyspace.lease('b'), '');
    await f.world.remove(keyspace.lease('b'));
    await f.lead();
    await f.world.time.advance(7_000 + MARGIN - 1);
    expect(await f.world.read(keyspace.plan)).toBeUndefined();
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
  });

  it('waits out whoever vanishes while it looks', async () => {
    await f.register(member('a1'));
    const lease = keyspace.lease('b');
    await f.world.put(lease, encodeLease({ renewal: 1, mayHold: true }).toString());
    const { registry } = f.client;
    const children = registry.children.bind(registry);
    jest.spyOn(registry, 'children').mockImplementationOnce(async (...args) => {
      const ids = await children(...args);
      await f.world.remove(lease);
      return ids;
    });
    await f.lead();
    await f.world.time.advance(5_000 + MARGIN - 1);
    expect(await f.world.read(keyspace.plan)).toBeUndefined();
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
  });

  it('replaces garbage, but not a plan of a later release', async () => {
    await f.register(member('a1'));
    await f.world.put(keyspace.plan, 'garbage');
    await f.lead();
    expect(await f.holders()).toBe('a1 a1 a1 a1');
    await f.leader.stop();
    const newer = encodePlan(planOf('a1:5'));
    newer[3] = 9;
    await (await f.world.operator()).set(keyspace.plan, newer, -1);
    await f.lead();
    await f.world.time.advance(60_000);
    expect((await (await f.world.operator()).get(keyspace.plan)).data).toEqual(newer);
  });

  it('has one writer where two try', async () => {
    await f.register(member('a1'), member('b1'));
    f.client.registry.link.loseNextAnswer();
    await f.lead();
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    expect(f.heard).toEqual(['in office at 0']);
  });
});

describe('the dead', () => {
  beforeEach(async () => {
    await f.register(member('a1', { lease: 3_000 }), member('b1'));
    await f.lead();
  });

  it('are waited out with their own lease and the margin', async () => {
    await f.remove('a');
    await f.world.time.advance(3_000 + MARGIN - 1);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    expect((await f.plan()).settled).toBe(false);
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('b1 b1 b1 b1');
    expect((await f.plan()).settled).toBe(true);
  });

  it('are waited out again by the next leader, from when it saw that they were gone', async () => {
    await f.remove('a');
    await f.world.time.advance(3_000);
    await f.leader.stop();
    await f.lead({ id: 'x', incarnation: 'x1' }, await f.world.client('x'));
    await f.world.time.advance(3_000 + MARGIN - 1);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('b1 b1 b1 b1');
  });

  it('that are back are another life, which gets nothing before', async () => {
    await f.remove('a');
    await f.register(member('a2'));
    await f.world.time.advance(3_000 + MARGIN - 1);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('a2 a2 b1 b1');
  });

  it('are not waited for if their last words were a surrender', async () => {
    const { epoch } = await f.plan();
    f.client.registry.link.freeze();
    await f.world.time.settle();
    f.client.registry.link.thaw();
    await f.register(member('a1', { leaving: true, acked: epoch, surrendered: epoch }));
    await f.remove('a');
    expect(await f.holders()).toBe('b1 b1 b1 b1');
  });

  it('include whoever cannot be read any more', async () => {
    await f.world.put(keyspace.instance('a'), 'garbage');
    await f.world.time.advance(3_000 + MARGIN);
    expect(await f.holders()).toBe('b1 b1 b1 b1');
  });

  it('are waited out from the start again if they were only overwritten, and came back', async () => {
    await f.world.put(keyspace.instance('a'), 'garbage');
    await f.world.time.advance(1_000);
    await f.register(member('a1', { lease: 3_000 }));
    await f.world.time.advance(60_000);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    await f.remove('a');
    await f.world.time.advance(3_000 + MARGIN - 1);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('b1 b1 b1 b1');
  });
});

describe('a rebalance', () => {
  beforeEach(async () => {
    await f.register(member('a1'));
  });

  it('goes by revocation, acknowledgement, grant: two plan writes', async () => {
    await f.lead();
    const before = f.client.requests.filter((request) => request === `set ${keyspace.plan}`).length;
    await f.register(member('b1'));
    expect(await f.holders()).toBe('a1 a1 a1! a1!');
    const { epoch } = await f.plan();
    await f.register(member('a1', { acked: epoch - 1 }));
    expect(await f.holders()).toBe('a1 a1 a1! a1!');
    await f.register(member('a1', { acked: epoch }));
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    const after = f.client.requests.filter((request) => request === `set ${keyspace.plan}`).length;
    expect(after - before).toBe(2);
  });

  it('is delayed where that is wanted, and joins what comes meanwhile', async () => {
    await f.lead({ rebalanceDelay: 2_000 });
    await f.register(member('b1'));
    await f.world.time.advance(1_000);
    await f.register(member('c1'), member('d1'));
    await f.world.time.advance(999);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('a1 a1! a1! a1!');
  });

  it('follows the configuration', async () => {
    await f.lead();
    await f.world.put(keyspace.config, encodeConfig(newConfig(2, 'sticky')).toString());
    await f.world.time.settle();
    expect(await f.holders()).toBe('a1! a1! a1! a1!');
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    expect(await f.holders()).toBe('a1 a1');
  });

  it('follows the strategy that the configuration names, also one of the application', async () => {
    const reversed = ({ members, current }: StrategyInput): Int32Array =>
      current.map((_, item) => (item + 1) % members.length);
    await f.lead({ strategies: { reversed } });
    await f.register(member('b1'));
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    const named = (strategy: string): Promise<unknown> =>
      f.world.put(keyspace.config, encodeConfig(newConfig(4, strategy)).toString());
    await named('reversed');
    await f.world.time.settle();
    expect(await f.holders()).toBe('a1! a1 b1 b1!');
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    await f.register(member('b1', { acked: (await f.plan()).epoch }));
    await f.world.time.advance(100);
    expect(await f.holders()).toBe('b1 a1 b1 a1');

    await named('unheard-of');
    await f.world.time.settle();
    expect(await f.holders()).toBe('b1 a1 b1 a1');
    expect(f.client.logged.some((line) => line.includes('"unheard-of" is not known'))).toBe(true);
  });

  it('heeds the weights of members', async () => {
    await f.lead();
    await f.register(member('b1', { weight: 3 }), member('c1', { weight: 0 }));
    expect(await f.holders()).toBe('a1 a1! a1! a1!');
  });

  it('is written again after a lost answer or a lost request', async () => {
    await f.lead();
    f.client.registry.link.loseNextAnswer();
    await f.register(member('b1'));
    await f.world.time.advance(2_000);
    expect(await f.holders()).toBe('a1 a1 a1! a1!');
    f.client.registry.link.loseNextRequest();
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    await f.world.time.advance(2_000);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
  });

  it('is asked for by a node, which is deleted first', async () => {
    await f.lead();
    const { epoch } = await f.plan();
    await f.world.put(keyspace.necessary, '');
    await f.world.time.settle();
    expect(await f.world.read(keyspace.necessary)).toBeUndefined();
    expect((await f.plan()).epoch).toBeGreaterThan(epoch);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
  });

  it('is done again for whoever asks while a plan is being written', async () => {
    await f.lead();
    const planWrites = (): number =>
      f.client.requests.filter((request) => request === `set ${keyspace.plan}`).length;
    const before = planWrites();
    const { registry } = f.client;
    const set = registry.set.bind(registry);
    let send = (): void => {};
    jest.spyOn(registry, 'set').mockImplementationOnce(async (...args) => {
      await new Promise<void>((resolve) => (send = resolve));
      return set(...args);
    });
    await f.register(member('b1'));
    await f.world.put(keyspace.necessary, '');
    await f.world.time.settle();
    expect(planWrites() - before).toBe(0);
    send();
    await f.world.time.settle();
    expect(planWrites() - before).toBe(2);
  });

  it('goes in waves, of which only the first one is delayed', async () => {
    await f.world.put(
      keyspace.config,
      encodeConfig({ ...newConfig(6, 'sticky'), maxMoves: 1 }).toString(),
    );
    await f.lead({ rebalanceDelay: 2_000 });
    await f.register(member('b1'));
    await f.world.time.advance(1_999);
    expect(await f.holders()).toBe('a1 a1 a1 a1 a1 a1');
    await f.world.time.advance(1);
    for (let wave = 1; wave <= 3; wave++) {
      expect((await f.holders()).split('!')).toHaveLength(2);
      await f.register(member('a1', { acked: (await f.plan()).epoch }));
    }
    expect(await f.holders()).toBe('a1 a1 a1 b1 b1 b1');
    await f.register(member('c1'));
    expect(await f.holders()).toBe('a1 a1 a1 b1 b1 b1');
  });

  it('with a limit on moves is delayed also while somebody dead is waited out', async () => {
    await f.world.put(
      keyspace.config,
      encodeConfig({ ...newConfig(6, 'sticky'), maxMoves: 6 }).toString(),
    );
    await f.register(member('b1'));
    await f.lead({ rebalanceDelay: 2_000 });
    await f.remove('b');
    await f.register(member('c1'), member('d1'), member('e1'));
    expect(await f.holders()).toBe('a1 a1 a1 b1 b1 b1');
    await f.world.time.advance(1_999);
    expect(await f.holders()).toBe('a1 a1 a1 b1 b1 b1');
  });

  it('costs nothing where nothing happens', async () => {
    await f.lead();
    const before = f.client.requests.length;
    await f.world.time.advance(600_000);
    expect(f.client.requests).toHaveLength(before);
  });

  it('is not begun if the plan would be too large; the error says so', async () => {
    const address = 'x'.repeat(300_000);
    await f.lead();
    const { epoch } = await f.plan();
    // Random text, since the plan is deflated.
    const noise = (): string => Buffer.from(f.client.environment.random.hex(400_000)).toString();
    await f.register(member('b1', { address: address + noise() }));
    await f.register(member('c1', { address: noise() }), member('d1', { address: noise() }));
    await f.register(member('e1', { address: noise() }), member('g1', { address: noise() }));
    expect(f.client.logged.some((line) => /^error The plan would take \d+ bytes/.test(line))).toBe(
      true,
    );
    expect((await f.plan()).members.length).toBeLessThan(6);
    expect((await f.plan()).epoch).toBeGreaterThanOrEqual(epoch);
  });
});

describe('a plan write', () => {
  it('fails where another leader has written meanwhile, and goes on from there', async () => {
    await f.register(member('a1'));
    await f.lead();
    const { registry } = f.client;
    const set = registry.set.bind(registry);
    let isFirst = true;
    registry.set = async (path, data, version, options) => {
      if (path === keyspace.plan && isFirst) {
        isFirst = false;
        // A leader of before took three items away and gave them to c1, which we have not seen.
        const plan = await f.plan();
        const other = planOf('a1:5 c1:6 c1:6 c1:6', { office, members: ['b1'] });
        const epoch = plan.epoch + 1;
        const theirs = { ...other, epoch, tokens: other.tokens.map(() => epoch) };
        await putPlan(await f.world.operator(), keyspace.plan, theirs);
      }
      return set(path, data, version, options);
    };
    await f.register(member('b1'), member('c1'));
    expect(await f.holders()).toBe('a1 c1 c1 c1');
    expect(f.heard).toContain('overruled');
  });
});

describe('the office', () => {
  beforeEach(async () => {
    await f.register(member('a1'));
  });

  it('is taken at once, but not said to be before the former leader’s lease has run out', async () => {
    await f.write(planOf('a1:5 a1:5 a1:5 a1:5', { office }));
    await f.lead();
    expect((await f.plan()).office).toMatchObject({ incarnation: 'z1', owed: 5_000 });
    await f.world.time.advance(5_000 + MARGIN - 1);
    expect(f.heard).toEqual([]);
    await f.world.time.advance(1);
    expect(f.heard).toEqual([`in office at ${5_000 + MARGIN}`]);
  });

  it('is said to be at once where the former leader vacated it', async () => {
    await f.write(planOf('a1:5 a1:5 a1:5 a1:5', { office: { ...office, lease: 0 } }));
    await f.lead();
    expect(f.heard).toEqual(['in office at 0']);
  });

  it('owes what the former leader owed', async () => {
    const owing = { ...office, lease: 0, owed: 4_000 };
    await f.write(planOf('a1:5 a1:5 a1:5 a1:5', { office: owing }));
    await f.lead();
    await f.world.time.advance(4_000 + MARGIN - 1);
    expect(f.heard).toEqual([]);
    await f.world.time.advance(1);
    expect(f.heard).toHaveLength(1);
  });

  it('owes it also when taken again by the same one', async () => {
    await f.write(planOf('a1:5 a1:5 a1:5 a1:5', { office }));
    await f.lead();
    await f.world.time.advance(1_000);
    await f.leader.stop();
    await f.leader.vacate();
    expect((await f.plan()).office).toMatchObject({ lease: 0, owed: 5_000 });
    await f.lead();
    await f.world.time.advance(5_000 + MARGIN - 1);
    expect(f.heard).toEqual([]);
    expect((await f.plan()).office.owed).toBe(5_000);
    await f.world.time.advance(1);
    expect(f.heard).toHaveLength(1);
  });

  it('is vacated with a larger epoch, so that nobody has to wait for us', async () => {
    await f.lead();
    const { epoch } = await f.plan();
    await f.leader.stop();
    await f.leader.vacate();
    const vacated = await f.plan();
    expect(vacated.office).toMatchObject({ incarnation: 'z1', lease: 0, owed: 0 });
    expect(vacated.epoch).toBeGreaterThan(epoch);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
  });

  it('is lost to whoever takes it after us', async () => {
    await f.lead();
    const plan = await f.plan();
    await f.write({ ...plan, epoch: plan.epoch + 1, office: { ...office, term: plan.epoch + 1 } });
    expect(f.heard.at(-1)).toBe('overruled');
  });
});

describe('a member that does not let go', () => {
  const BOUND = 2_000 + 10_000;

  beforeEach(async () => {
    await f.register(member('a1', { drainTimeout: 2_000, lease: 3_000 }));
    await f.lead();
    await f.register(member('b1'));
    expect(await f.holders()).toBe('a1 a1 a1! a1!');
  });

  it('is evicted after its drainTimeout and the session timeout, then waited out', async () => {
    await f.world.time.advance(BOUND - 1);
    expect(await f.world.read(keyspace.instance('a'))).toBeDefined();
    await f.world.time.advance(1);
    expect(await f.world.read(keyspace.instance('a'))).toBeUndefined();
    await f.world.time.advance(3_000 + MARGIN - 1);
    expect(await f.holders()).toBe('a1! a1! a1 a1'.split(' ').toReversed().join(' '));
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('b1 b1 b1 b1');
  });

  it('is left alone if it lets go in time', async () => {
    await f.world.time.advance(BOUND - 1);
    await f.register(
      member('a1', { drainTimeout: 2_000, lease: 3_000, acked: (await f.plan()).epoch }),
    );
    await f.world.time.advance(10 * BOUND);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
  });

  it('is evicted later if it could not be at first', async () => {
    await f.world.time.advance(BOUND - 1);
    f.client.registry.link.loseNextRequest();
    await f.world.time.advance(1);
    expect(await f.world.read(keyspace.instance('a'))).toBeDefined();
    await f.world.time.advance(BOUND + 3_000 + MARGIN);
    expect(await f.holders()).toBe('b1 b1 b1 b1');
  });

  it('is not evicted for what its former life did not do', async () => {
    await f.world.time.advance(BOUND - 1);
    await f.remove('a');
    await f.register(member('a2'));
    await f.world.time.advance(BOUND);
    expect(await f.world.read(keyspace.instance('a'))).toBeDefined();
    expect(await f.holders()).toBe('a2 a2 b1 b1');
  });
});

describe('whoever may come back', () => {
  const rejoins = { rejoinWindow: 20_000 };
  /** Two members, of whom b wants to be waited for, and goes in good order. */
  async function bGoes(change: Partial<MemberRecord> = {}): Promise<void> {
    await f.register(member('a1'), member('b1', { ...rejoins, ...change }));
    await f.lead();
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    const { epoch } = await f.plan();
    await f.register(
      member('b1', { ...rejoins, ...change, leaving: true, acked: epoch, surrendered: epoch }),
    );
    await f.remove('b');
  }

  it('finds what it had, which nobody else got meanwhile', async () => {
    await bGoes();
    await f.world.time.advance(19_900);
    expect(await f.holders()).toBe('a1 a1 - -');
    await f.register(member('b2', rejoins));
    expect(await f.holders()).toBe('a1 a1 b2 b2');
    await f.world.time.advance(60_000);
    expect(await f.holders()).toBe('a1 a1 b2 b2');
  });

  it('is waited for no longer than it wants', async () => {
    await bGoes();
    await f.world.time.advance(20_100);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
    expect((await f.plan()).away).toEqual([]);
  });

  it('is waited for until it certainly holds nothing, if it wants less, and no longer', async () => {
    await f.register(member('a1'), member('b1', { rejoinWindow: 1_000, lease: 3_000 }));
    await f.lead();
    await f.remove('b');
    await f.world.time.advance(3_000 + MARGIN - 1);
    expect(await f.holders()).toBe('a1 a1 b1 b1');
    const plans = f.client.requests.filter((request) => request === `set ${keyspace.plan}`);
    // That it is gone, and that nobody waits for it any more.
    expect(plans).toHaveLength(2);
    await f.world.time.advance(1);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
    expect((await f.plan()).away).toEqual([]);
  });

  it('is waited for by the next leader, which counts anew', async () => {
    await bGoes();
    await f.world.time.advance(15_000);
    await f.leader.stop();
    await f.lead({ id: 'y', incarnation: 'y1' });
    await f.world.time.advance(15_000);
    expect(await f.holders()).toBe('a1 a1 - -');
    await f.world.time.advance(5_100);
    expect(await f.holders()).toBe('a1 a1 a1 a1');
  });

  it('can have it lent out, and gets it back', async () => {
    await bGoes({ lends: true });
    expect(await f.holders()).toBe('a1 a1 a1 a1');
    await f.register(member('b2', rejoins));
    expect(await f.holders()).toBe('a1 a1 a1! a1!');
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    expect(await f.holders()).toBe('a1 a1 b2 b2');
  });
});

describe('the configuration', () => {
  const configure = async (change: Partial<GroupConfig>): Promise<void> => {
    const config = { ...newConfig(4, 'sticky'), ...change };
    await f.world.put(keyspace.config, encodeConfig(config).toString());
    await f.world.time.settle();
  };

  it('takes effect at once', async () => {
    await f.register(member('a1'), member('b1'));
    await f.lead();
    await configure({ instances: { b: { drained: true } } });
    expect(await f.holders()).toBe('a1 a1 b1! b1!');
    await f.register(member('b1', { acked: (await f.plan()).epoch }));
    expect(await f.holders()).toBe('a1 a1 a1 a1');
    await configure({});
    expect(await f.holders()).toMatch(/^a1!? a1!? a1!? a1!?$/);
  });

  it('that asks for what cannot be had is complained about, once', async () => {
    await f.register(member('a1'));
    await f.lead();
    await configure({ items: { 1: { pin: 'nobody' }, 2: { needs: { zone: 'x' } } } });
    expect(await f.holders()).toBe('a1 a1 a1! a1');
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    const warnings = f.client.logged.filter((line) => line.startsWith('warn'));
    expect(warnings).toEqual([
      'warn Item 1 is pinned to nobody, which cannot be given anything: the pin is ignored. ' +
        'Item 2 needs zone=x, which no instance has that can be given anything: it is given to nobody',
    ]);
  });
});

describe('the history', () => {
  const history = async (): Promise<HistoryEntry[]> =>
    decodeHistory((await (await f.world.operator()).get(keyspace.history)).data);

  it('tells of each rebalance when it has settled', async () => {
    await f.register(member('a1'));
    await f.lead();
    await f.world.time.advance(1_000);
    await f.register(member('b1'));
    await f.world.time.advance(700);
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    const { epoch } = await f.plan();
    await f.remove('b');
    await f.world.time.advance(10_000);
    const [first, joined, crashed, ...more] = await history();
    const nothing = { joined: [], left: [], crashed: [], configured: [] };
    expect(first).toMatchObject({ moved: 4, leader: 'z', why: { ...nothing, joined: ['a'] } });
    expect(joined).toMatchObject({ epoch, moved: 2, total: 4, instances: 2 });
    expect(joined?.why).toEqual({ ...nothing, joined: ['b'], asked: false, inherited: false });
    expect(joined?.took).toEqual({ all: 700, waiting: 0, draining: 700 });
    expect(crashed).toMatchObject({ moved: 2, why: { ...nothing, crashed: ['b'] } });
    expect(crashed?.took).toMatchObject({ waiting: 5_000 + MARGIN, draining: 0 });
    expect(more).toEqual([]);
  });

  it('does not count the time since a change that was called off', async () => {
    await f.register(member('a1'));
    await f.lead({ rebalanceDelay: 2_000 });
    await f.register(member('b1'));
    await f.world.time.advance(1_000);
    await f.remove('b');
    await f.world.time.advance(3_600_000);
    await f.register(member('c1'));
    await f.world.time.advance(2_000);
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    expect((await history()).at(-1)).toMatchObject({
      why: { joined: ['c'] },
      took: { all: 2_000 },
    });
  });

  it('says what was configured, and what was asked for', async () => {
    await f.register(member('a1'));
    await f.lead();
    const config = { ...newConfig(2, 'sticky'), maxMoves: 3 };
    await f.world.put(keyspace.config, encodeConfig(config).toString());
    await f.world.time.settle();
    await f.register(member('a1', { acked: (await f.plan()).epoch }));
    await f.world.put(keyspace.necessary, '');
    await f.world.time.settle();
    expect((await history()).slice(1)).toMatchObject([
      { why: { previousTotal: 4, configured: ['total', 'maxMoves'] }, total: 2, moved: 2 },
      { why: { asked: true }, moved: 0 },
    ]);
  });

  it('is kept within bounds, and begun anew where it is unreadable', async () => {
    await f.world.put(keyspace.history, 'garbage');
    await f.register(member('a1'));
    await f.lead();
    for (let round = 0; round < 60; round++) {
      await f.world.put(keyspace.necessary, '');
      await f.world.time.settle();
    }
    const entries = await history();
    expect(entries).toHaveLength(50);
    expect(entries.at(-1)?.epoch).toBe((await f.plan()).epoch);
  });
});
