import { setTimeout as sleep } from 'node:timers/promises';
import type { Audit } from './audit.js';
import { now } from './clock.js';
import { FINISH } from './demo-app.js';
import { fewestMoves } from './fewest-moves.js';
import { afterCrash, type Stage } from './stage.js';

/** What a change of the cast is: it decides how long shards may be without an owner. */
export type Kind = 'start' | 'in good order' | 'after a crash';

/** How a change went. */
export interface Outcome {
  readonly title: string;
  readonly kind: Kind;
  readonly hasSettled: boolean;
  readonly moves: number;
  readonly fewest: number;
  readonly longestGap: number;
}

/** Who is told while it goes on. */
export interface Audience {
  begins(title: string): void;
  ended(outcome: Outcome): void;
}

export interface ScenarioOptions {
  /** Milliseconds to look at the picture after each change. */
  readonly rest: number;
  readonly signal: AbortSignal;
}

/** Beyond what the protocol needs: a busy machine, a process that starts. */
const PATIENCE = 12_000;

/** Plays everything that happens to a group in its life. Ends early if it does not settle after a change. */
export async function play(
  stage: Stage,
  audit: Audit,
  audience: Audience,
  { rest, signal }: ScenarioOptions,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const { words } = stage;
  let members: string[] = [];

  async function change(
    kind: Kind,
    title: string,
    next: readonly string[],
    act: () => Promise<void>,
  ): Promise<void> {
    if (outcomes.some(({ hasSettled }) => !hasSettled)) return;
    signal.throwIfAborted();
    members = [...next];
    const fewest = kind === 'start' ? 0 : fewestMoves(countsOf(members, audit), audit.total);
    const begin = now();
    audience.begins(title);
    await act();
    const deadline = begin + afterCrash(stage.timing) + FINISH + PATIENCE;
    let hasSettled = false;
    while (!hasSettled && now() < deadline) {
      await sleep(20, undefined, { signal });
      hasSettled = isSettled(stage, audit, members);
    }
    const findings = audit.between(begin, now());
    const outcome = { title, kind, hasSettled, fewest, ...findings };
    outcomes.push(outcome);
    audience.ended(outcome);
    await sleep(rest, undefined, { signal });
  }

  const joins = (name: string, verb: string, kind: Kind = 'in good order') =>
    change(kind, `${name} ${verb}`, [...members, name], () => stage.join(name));
  const without = (name: string) => members.filter((member) => member !== name);

  await joins('ada', 'starts, alone', 'start');
  await joins('ben', 'joins');
  await joins('cleo', 'joins');
  await joins('dora', 'joins');
  await change('in good order', 'ben leaves in good order', without('ben'), () =>
    stage.leave('ben'),
  );
  const first = leaderOf(stage);
  await change('after a crash', `${first}, the leader, ${words.crash}`, without(first), () =>
    stage.crash(first),
  );
  const second = leaderOf(stage);
  await change('after a crash', `${second}, the new leader, ${words.freeze}`, without(second), () =>
    stage.freeze(second),
  );
  await change('in good order', `${second} ${words.thaw}`, [...members, second], () =>
    stage.thaw(second),
  );
  await joins('ben', 'is back');
  return outcomes;
}

function leaderOf({ cast }: Stage): string {
  return [...cast].find(([, { isLeader }]) => isLeader)?.[0] ?? 'nobody';
}

function countsOf(members: readonly string[], audit: Audit): number[] {
  const counts = new Map(members.map((member) => [member, 0]));
  for (let item = 0; item < audit.total; item += 1) {
    for (const holder of audit.holders(item)) {
      const count = counts.get(holder);
      if (count !== undefined) counts.set(holder, count + 1);
    }
  }
  return [...counts.values()];
}

/** Every item has one owner, all members have equally many to within one, nothing is under way, one leads. */
function isSettled({ cast }: Stage, audit: Audit, members: readonly string[]): boolean {
  const isCalm = members.every((member) => {
    const { state, finishing } = cast.get(member) ?? {};
    return state === 'ready' && finishing?.length === 0;
  });
  if (!isCalm || members.filter((member) => cast.get(member)?.isLeader).length !== 1) return false;
  for (let item = 0; item < audit.total; item += 1) {
    const holders = audit.holders(item);
    if (holders.length !== 1 || !members.includes(holders[0]!)) return false;
  }
  const counts = countsOf(members, audit);
  return Math.max(...counts) - Math.min(...counts) <= 1;
}
