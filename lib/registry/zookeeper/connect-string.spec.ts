import { describe, expect, it } from '@jest/globals';
import { formatServer, parseConnectString } from './connect-string.js';

const servers = (text: string): string[] => parseConnectString(text).servers.map(formatServer);

describe('a connect string', () => {
  it.each([
    ['zk1', ['zk1:2181']],
    ['zk1:2182', ['zk1:2182']],
    ['zk1:2181,zk2:2181,zk3:2181', ['zk1:2181', 'zk2:2181', 'zk3:2181']],
    ['10.0.0.1,10.0.0.2:1', ['10.0.0.1:2181', '10.0.0.2:1']],
    ['[::1]', ['[::1]:2181']],
    ['[FD00::3]:65535', ['[fd00::3]:65535']],
    ['zoo_keeper-1.my-ns.svc.cluster.local', ['zoo_keeper-1.my-ns.svc.cluster.local:2181']],
    ['  zk1 , zk2:2182  ', ['zk1:2181', 'zk2:2182']],
    ['zk1,ZK1:2181,zk1:2181,zk1:2182', ['zk1:2181', 'zk1:2182']],
  ])('%j names %j', (text, expected) => {
    expect(servers(text)).toEqual(expected);
  });

  it.each([
    ['zk1', ''],
    ['zk1/', ''],
    ['zk1:2181/app', '/app'],
    ['zk1,[::1]:2181/apps/ä b', '/apps/ä b'],
  ])('%j has the chroot %j', (text, chroot) => {
    expect(parseConnectString(text).chroot).toBe(chroot);
  });

  it.each([
    [undefined, 'it is not a string'],
    [['zk1'], 'it is not a string'],
    ['', 'it names no server'],
    ['   ', 'it names no server'],
    ['/app', 'it names no server'],
    ['zk1,,zk2', 'there is nothing before or after a comma'],
    ['zk1,', 'there is nothing before or after a comma'],
    [':2181', '"" is neither a host name nor an address'],
    ['zk 1:2181', '"zk 1" is neither a host name nor an address'],
    ['zk1:2181;zk2:2181', '"2181;zk2:2181" is not a port'],
    ['http://zk1:2181', '"" is not a port'],
    ['10.0.0.256', '"10.0.0.256" is neither a host name nor an address'],
    ['zk1:0', '"0" is not a port: expected a number from 1 to 65535'],
    ['zk1:65536', '"65536" is not a port'],
    ['zk1:', '"" is not a port'],
    ['zk1:-1', '"-1" is not a port'],
    ['::1', 'an IPv6 address needs brackets: "[::1]:2181"'],
    ['[::1', '"[" is neither a host name nor an address'],
    ['[zk1]:2181', '"[zk1]" is not an IPv6 address'],
    ['zk1:2181/a//b', 'its chroot "/a//b" is bad: it has an empty part'],
    ['zk1:2181/a/', 'its chroot "/a/" is bad: it ends with a slash'],
    ['zk1:2181/a/../b', 'its chroot "/a/../b" is bad: it has a part ".."'],
    ['zk1:2181/a\u0007', 'it contains a control or private character'],
  ])('%j is refused: %s', (text, problem) => {
    expect(() => parseConnectString(text)).toThrow(
      expect.objectContaining({
        code: 'INVALID',
        message: expect.stringContaining(problem) as unknown,
      }),
    );
    expect(() => parseConnectString(text)).toThrow(/^registry\.connect is .*expected servers/s);
  });

  it('is shown without a password that does not belong there', () => {
    const texts = ['me:s3cret@zk1:2181', 'zk1,me:s3cret@zk2', 'zk1:s3cret@2181'];
    texts.push('me:s3cret,s3cret@zk1', 'zk1/../me:s3cret@x', 'me:1234/s3cret@zk1');
    for (const text of texts) {
      expect(() => parseConnectString(text)).toThrow(/registry\.connect.*registry\.auth/);
      expect(() => parseConnectString(text)).not.toThrow(/s3cret/);
    }
  });
});
