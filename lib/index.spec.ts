import { describe, expect, it } from '@jest/globals';
import * as api from './index.js';

describe('the public surface', () => {
  it('has the version that a conditional write takes for any', () => {
    expect(api.ANY_VERSION).toBe(-1);
  });
});
