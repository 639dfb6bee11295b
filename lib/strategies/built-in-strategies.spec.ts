import { describe, expect, it } from '@jest/globals';
import { equalMembers } from '../../test/kit/strategy-worlds.js';
import { builtInStrategies } from './built-in-strategies.js';
import { checkAssignment } from './check-assignment.js';

describe('builtInStrategies', () => {
  it('has the strategies by the names that stand in configurations', () => {
    expect(Object.keys(builtInStrategies)).toEqual([
      'sticky',
      'average',
      'odevity',
      'round-robin',
      'rendezvous',
    ]);
  });

  it.each(Object.entries(builtInStrategies))('%s owns every item', (_, strategy) => {
    for (const total of [0, 1, 7, 100]) {
      const input = {
        members: equalMembers(7),
        total,
        current: new Int32Array(total).fill(-1),
        name: 'orders',
      };
      expect(checkAssignment(input, strategy(input))).toBeUndefined();
    }
  });
});
