import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodePlan } from '../../lib/coordinator/plan-codec.js';
import { eventually } from '../kit/eventually.js';
import { ZooKeeperServer } from '../kit/zookeeper-server.js';
import { BOUND, FORMATION, type Group, TIMEOUT, withGroup } from './group.js';
import type { Member } from './member.js';
import { type PassingWrite, Road } from './road.js';
import { withOpen } from './with-open.js';

/** Every write of the leader in a rebalance; renewals of its lease and what is for tools are none of it. */
const STEPS = {
  'the revocation': (write: PassingWrite) => isPlan(write) && marksOf(write).length > 0,
  'its own acknowledgement': ({ path }: PassingWrite) => path.startsWith('/instances/'),
  'a plan in between': (write: PassingWrite) =>
    isPlan(write) && marksOf(write).length === 0 && !decodePlan(write.data).settled,
  'the last plan': (write: PassingWrite) => isPlan(write) && decodePlan(write.data).settled,
} as const;

type Step = keyof typeof STEPS;

const isPlan = ({ path }: PassingWrite): boolean => path === '/sharding';

/** What a plan begins to take away, with the very write. */
function marksOf({ data }: PassingWrite): number[] {
  const { marks, epoch } = decodePlan(data);
  return [...marks].filter((mark) => mark === epoch);
}

/** A group whose members each have a way to ZooKeeper of their own. */
class WatchedGroup {
  readonly #roads = new Map<Member, Road>();

  constructor(
    private readonly group: Group,
    private readonly port: number,
  ) {}

  /** Each takes longer to let go than the one before, so that a rebalance is granted piece by piece. */
  async join(id: string): Promise<void> {
    const road = await Road.build(this.port, this.group.namespace);
    const hooks = { acquired: { delay: 50 * (this.#roads.size + 1) } };
    this.#roads.set(await this.group.start(id, { connect: road.connect, hooks }), road);
  }

  /** Kills the leader when it takes this step; stopped first, so that it sees nothing after it. */
  killLeaderAt(step: Step, when: 'before' | 'after'): { isKilled: boolean } {
    const { leader } = this.group;
    const road = this.#roads.get(leader)!;
    const victim = { isKilled: false };
    const stop = (): void => void process.kill(leader.pid, 'SIGSTOP');
    const lost =
      when === 'before' ? road.loseRequest(STEPS[step], stop) : road.loseAnswer(STEPS[step], stop);
    const kill = async (): Promise<void> => {
      await lost;
      await leader.kill();
      victim.isKilled = true;
    };
    void kill();
    return victim;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#roads.values()].map((road) => road.close()));
  }
}

/** The leader is killed at each write of a rebalance, before it takes effect and right after. */
export function killsAtEveryStep(total: number | 'instances'): void {
  describe(`the leader is killed at every step of a rebalance (total: ${total})`, () => {
    let server: ZooKeeperServer;

    beforeAll(async () => void (server = await ZooKeeperServer.start()));
    afterAll(() => server.close());

    it.concurrent.each(['before', 'after'] as const)(
      '%s the write',
      (when) =>
        withGroup({ connect: server.connect, label: `step-${when}`, total }, (group) =>
          withOpen(new WatchedGroup(group, server.port), async (watched) => {
            await Promise.all(['a', 'b', 'c'].map((id) => watched.join(id)));
            await group.settled(FORMATION);
            for (const step of Object.keys(STEPS) as Step[]) {
              await killAt(group, watched, step, when);
            }
          }),
        ),
      TIMEOUT,
    );
  });
}

/** Another one joins, from which a rebalance follows; the group of three is one of three again. */
async function killAt(
  group: Group,
  watched: WatchedGroup,
  step: Step,
  when: 'before' | 'after',
): Promise<void> {
  const members = group.running.length;
  await group.suffers(`leader killed ${when} ${step} of a join`, BOUND.takeOver, async () => {
    const { leader } = group;
    const victim = watched.killLeaderAt(step, when);
    await watched.join(`j-${step.replaceAll(' ', '-')}`);
    // On a starved machine it may lose its office before it comes to this step.
    await eventually(() => victim.isKilled || group.leader !== leader, {
      timeout: BOUND.join,
      label: `killed at ${step}`,
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${group.logs()}`, { cause: error });
    });
    if (!victim.isKilled) await leader.kill();
  });
  expect(group.running).toHaveLength(members);
}
