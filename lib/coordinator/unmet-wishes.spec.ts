import { describe, expect, it } from '@jest/globals';
import { member } from '../../test/kit/plans.js';
import { type GroupConfig, newConfig } from './group-config.js';
import type { MemberRecord } from './member-record.js';
import { rosterOf } from './roster.js';
import { UnmetWishes, unmetWishes } from './unmet-wishes.js';

const saying = (items: GroupConfig['items'], change: Partial<GroupConfig> = {}): GroupConfig => ({
  ...newConfig(20, 'sticky'),
  items,
  ...change,
});

const unmet = (config: GroupConfig, ...members: MemberRecord[]): string[] =>
  unmetWishes(config, rosterOf(members, config), 20);

const inX = member('a1', { labels: { zone: 'x' } });
const NEEDS_X =
  'needs zone=x, which no instance has that can be given anything: it is given to nobody';

describe('unmet wishes', () => {
  it('are pins to whoever cannot be given anything', () => {
    const config = saying({ 1: { pin: 'a' }, 2: { pin: 'b' } });
    expect(unmet(config, inX)).toEqual([
      'Item 2 is pinned to b, which cannot be given anything: the pin is ignored',
    ]);
  });

  it('are labels that nobody has who can be given anything', () => {
    const items = { 3: { needs: { zone: 'x' } } };
    expect(unmet(saying(items), inX)).toEqual([]);
    expect(unmet(saying(items), member('b1'))).toEqual([`Item 3 ${NEEDS_X}`]);
    const cordoned = saying(items, { instances: { a: { cordoned: true } } });
    expect(unmet(cordoned, inX)).toEqual([`Item 3 ${NEEDS_X}`]);
  });

  it('are not those of items that nobody is to hold, or that there are none of', () => {
    expect(unmet(saying({ 1: { pin: 'b', disabled: true }, 20: { pin: 'b' } }))).toEqual([]);
  });

  it('are named together, and not all of them', () => {
    const items = Object.fromEntries(
      Array.from({ length: 12 }, (_, item) => [item, { needs: { zone: 'x' } }]),
    );
    expect(unmet(saying(items))).toEqual([
      `Each of the items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … ${NEEDS_X}`,
    ]);
  });

  it('are not looked for where there are no wishes, and are said again afterwards', () => {
    const said: string[] = [];
    const wishes = new UnmetWishes((text) => said.push(text));
    const config = saying({ 3: { needs: { zone: 'x' } } });
    const roster = rosterOf([], config);
    const unseen = {
      ...roster,
      get seats(): never {
        throw new Error('looked at');
      },
    };
    wishes.look(config, roster, 20);
    wishes.look(saying({}), unseen, 20);
    wishes.look(config, roster, 20);
    expect(said).toHaveLength(2);
  });

  it('are said once, and again when they have been met meanwhile', () => {
    const said: string[] = [];
    const wishes = new UnmetWishes((text) => said.push(text));
    const config = saying({ 3: { needs: { zone: 'x' } } });
    const look = (...members: MemberRecord[]): number => {
      wishes.look(config, rosterOf(members, config), 20);
      return said.length;
    };
    expect([look(), look(), look(member('b1')), look(inX), look()]).toEqual([1, 1, 1, 1, 2]);
  });

  it('are not looked for again while nothing that they depend on has changed', () => {
    const wishes = new UnmetWishes(() => {});
    let looks = 0;
    const wish = Object.defineProperty({}, 'needs', { get: () => void (looks += 1) });
    const config = saying({ 3: wish });
    const roster = rosterOf([inX], config);
    wishes.look(config, roster, 20);
    wishes.look(config, rosterOf([inX], config), 20);
    expect(looks).toBe(1);
    wishes.look(config, roster, 21);
    expect(looks).toBe(2);
  });
});
