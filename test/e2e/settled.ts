import { eventually, type EventuallyOptions } from '../kit/eventually.js';
import { now } from './fixtures/member.protocol.js';
import type { Member } from './member.js';

/** How long everything has to stay as it should be before it counts. */
const CALM = 200;

/** What a member last said of itself. */
interface Said {
  readonly who: string;
  readonly status: string;
  readonly items: readonly number[];
  readonly leads: boolean;
  readonly totals: readonly number[];
}

/** Fails if nothing was heard of it since then. */
function saidBy({ recording }: Member, since: number): Said {
  const { who, heard, state, items, leads } = recording;
  if (heard < since || !state) throw new Error(`nothing was heard of ${who}`);
  const totals = new Set(state.o.map(([, , under]) => under));
  return { who, status: state.status, items, leads, totals: [...totals] };
}

function described({ who, status, items, leads }: Said): string {
  return [who, status, leads ? 'leads' : '', `[${items.join()}]`].join(' ');
}

/** What is still missing: each item owned by exactly one, evenly, all of them ready, and one that leads. */
function problemOf(states: readonly Said[], total: number): string | undefined {
  if (states.some(({ status }) => status !== 'ready')) return 'not all are ready';
  const owned = states.flatMap(({ items }) => items).toSorted((a, b) => a - b);
  const wanted = Array.from({ length: total }, (_, item) => item);
  if (owned.join() !== wanted.join()) return `items ${owned.join()} of ${total} are owned`;
  if (states.some(({ totals }) => totals.some((under) => under !== total))) return 'an old total';
  const sizes = states.map(({ items }) => items.length);
  if (Math.max(...sizes) - Math.min(...sizes) > 1) return 'not shared out evenly';
  const leaders = states.filter(({ leads }) => leads).length;
  return leaders === 1 ? undefined : `${leaders} lead`;
}

/** Fails unless all of them have just said that everything is as it should be. */
export function assertSettled(members: readonly Member[], since: number, total: number): void {
  const states = members.map((member) => saidBy(member, since));
  const problem = problemOf(states, total);
  if (problem) throw new Error(`${problem}: ${states.map(described).join('; ')}`);
}

/**
 * Waits until everything is as it should be, and has been so for a while.
 * @returns the milliseconds until it became so
 */
export async function staysSettled(
  assertAsItShouldBe: (since: number) => void,
  { timeout, ...options }: EventuallyOptions & { timeout: number },
): Promise<number> {
  const since = now();
  let calmSince: number | undefined;
  const probe = (): boolean => {
    try {
      assertAsItShouldBe(since);
    } catch (error) {
      calmSince = undefined;
      throw error;
    }
    calmSince ??= now();
    return now() - calmSince >= CALM;
  };
  await eventually(probe, { timeout: timeout + CALM, ...options });
  return (calmSince ?? now()) - since;
}
