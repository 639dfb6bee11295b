import { describe, expect, it } from '@jest/globals';
import { isRefusal, RequestFailure, toRegistryError } from './zookeeper-errors.js';

const subject = { operation: 'set', path: '/a' };

describe('a code of ZooKeeper', () => {
  it.each([
    [-101, 'NO_NODE', false],
    [-102, 'NO_AUTH', false],
    [-103, 'BAD_VERSION', false],
    [-108, 'NO_CHILDREN_FOR_EPHEMERALS', false],
    [-110, 'NODE_EXISTS', false],
    [-111, 'NOT_EMPTY', false],
    [-112, 'SESSION_LOST', true],
    [-4, 'CONNECTION_LOST', true],
    [-7, 'CONNECTION_LOST', true],
    [-116, 'CONNECTION_LOST', true],
    [-118, 'CONNECTION_LOST', true],
    [-8, 'FAILED', false],
    [-114, 'FAILED', false],
  ] as const)('%d becomes %s, outcome unknown: %s', (rc, code, outcomeUnknown) => {
    const failure = new RequestFailure(rc, true);
    expect(toRegistryError(failure, subject)).toMatchObject({ code, outcomeUnknown, subject });
    expect(isRefusal(failure)).toBe(!outcomeUnknown);
  });

  it('of a request that was never sent leaves no doubt', () => {
    const failure = new RequestFailure(-9, false);
    expect(toRegistryError(failure, subject)).toMatchObject({
      code: 'CONNECTION_LOST',
      outcomeUnknown: false,
    });
    expect(isRefusal(failure)).toBe(true);
  });

  it('without a class of its own is shown', () => {
    expect(toRegistryError(new RequestFailure(-114, true), subject).message).toBe(
      'set /a: ZooKeeper answered with code -114',
    );
  });
});
