import { expect, it } from '@jest/globals';
import { uniqueNamespace } from './namespace.js';

it('makes a plain name of any label, another one each time', () => {
  const names = ['One leader / at most!', '', '///'].map((label) => uniqueNamespace(label));
  expect(names.map((name) => name.replace(/[0-9a-f]{12}$/, ''))).toEqual([
    'one-leader-at-most-',
    'test-',
    'test-',
  ]);
  expect(uniqueNamespace('same')).not.toBe(uniqueNamespace('same'));
});
