import { describe, expect, it } from '@jest/globals';
import {
  decodeConfig,
  encodeConfig,
  type GroupConfig,
  newConfig,
} from '../coordinator/group-config.js';
import * as changes from './changes.js';
import type { ConfigChange } from './changes.js';

const before: GroupConfig = {
  ...newConfig(8, 'sticky'),
  items: { 3: { pin: 'a', weight: 2 } },
  instances: { a: { cordoned: true } },
  maxMoves: 5,
};

/** As it is read again. */
const after = (change: ConfigChange): GroupConfig =>
  decodeConfig(encodeConfig(change.apply(before)));

describe('a change of the configuration', () => {
  it.each<[string, ConfigChange, Partial<GroupConfig>]>([
    ['of the total', changes.setTotal('instances'), { total: 'instances' }],
    ['of the strategy', changes.setStrategy('average'), { strategy: 'average' }],
    ['of a pause', changes.setPaused(true), { paused: true }],
    ['of the label to spread over', changes.setSpread('zone'), { spreadOver: 'zone' }],
    ['of the limit', changes.setLimit('25%'), { maxMoves: '25%' }],
    [
      'of an item',
      changes.setParam([3], { x: 1 }),
      { items: { 3: { pin: 'a', weight: 2, parameter: { x: 1 } } } },
    ],
    [
      'of another item',
      changes.setNeeds([4], { zone: 'a' }),
      { items: { ...before.items, 4: { needs: { zone: 'a' } } } },
    ],
    ['of a pin', changes.setPin([3], undefined), { items: { 3: { weight: 2 } } }],
    [
      'of the weight of an item',
      changes.setWeight({ items: [3] }, undefined),
      { items: { 3: { pin: 'a' } } },
    ],
    [
      'of the weight of an instance',
      changes.setWeight({ instance: 'b' }, 0),
      { instances: { ...before.instances, b: { weight: 0 } } },
    ],
    [
      'of an instance',
      changes.setDrained('a', true),
      { instances: { a: { cordoned: true, drained: true } } },
    ],
    ['that takes the last word back', changes.setCordoned('a', false), { instances: {} }],
    [
      'of several items',
      changes.setDisabled({ items: [0, 1] }, true),
      { items: { ...before.items, 0: { disabled: true }, 1: { disabled: true } } },
    ],
  ])('%s leaves everything else as it is', (_, change, difference) => {
    expect(after(change)).toEqual({ ...before, ...difference });
  });

  it('takes a limit back', () => {
    expect(after(changes.setLimit(undefined))).not.toHaveProperty('maxMoves');
  });

  it('names what it is about, which has to exist', () => {
    expect(changes.setPin([1, 2], 'b')).toMatchObject({ items: [1, 2], instances: ['b'] });
    expect(changes.setDisabled({ instance: 'b' }, false)).toMatchObject({ instances: ['b'] });
  });

  it.each([Number.NaN, Infinity])('says what is no number in JSON: %p', (number) => {
    expect(() => changes.setTotal(number)).toThrow(`total is ${number}`);
    expect(() => changes.setWeight({ instance: 'a' }, number)).toThrow(`the weight is ${number}`);
  });
});
