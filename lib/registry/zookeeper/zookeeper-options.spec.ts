import { describe, expect, it } from '@jest/globals';
import { checkOptions } from './zookeeper-options.js';

const check = (options: object) => checkOptions({ connect: 'zk1', ...options });

describe('options for ZooKeeper', () => {
  it('have defaults', () => {
    expect(check({})).toEqual({
      servers: [{ host: 'zk1', port: 2181 }],
      chroot: '',
      sessionTimeout: 10_000,
      connectTimeout: 10_000,
      credentials: undefined,
    });
  });

  it('are taken as given', () => {
    const auth = { credentials: 'me:a:b' };
    expect(check({ sessionTimeout: 4_000, connectTimeout: 0.5, auth })).toMatchObject({
      sessionTimeout: 4_000,
      connectTimeout: 1,
      credentials: 'me:a:b',
    });
  });

  it.each([0, -1, Number.NaN, Infinity, 2 ** 31, '5000', null, 5n])(
    'refuse %p as a timeout',
    (value) => {
      for (const option of ['sessionTimeout', 'connectTimeout']) {
        expect(() => check({ [option]: value })).toThrow(
          expect.objectContaining({
            code: 'INVALID',
            message: expect.stringContaining(`registry.${option} is `) as unknown,
          }),
        );
        expect(() => check({ [option]: value })).toThrow(/positive number of milliseconds/);
      }
    },
  );

  it.each(['s3cret', ':s3cret', 's3cret:', '', undefined, 5])(
    'refuse %p as credentials, without showing them',
    (credentials) => {
      expect(() => check({ auth: { credentials } })).toThrow(
        /registry\.auth\.credentials.*"user:password"/,
      );
      expect(() => check({ auth: { credentials } })).not.toThrow(/s3cret/);
    },
  );

  it('refuse another scheme', () => {
    expect(() => check({ auth: { scheme: 'sasl', credentials: 'a:b' } })).toThrow(
      'registry.auth.scheme (not shown) is unknown: the only scheme is "digest"',
    );
  });

  it('refuse TLS, which the native client does not have', () => {
    for (const tls of [true, false, 0, {}]) {
      expect(() => check({ tls })).toThrow(/registry\.tls .* no TLS/);
    }
  });
});
