import { describe, expect, it } from '@jest/globals';
import type { NetworkInterfaceInfo } from 'node:os';
import { ownAddress } from './own-address.js';

const address = (family: 'IPv4' | 'IPv6', ip: string, internal: boolean): NetworkInterfaceInfo => ({
  address: ip,
  netmask: '',
  mac: '',
  cidr: null,
  internal,
  ...(family === 'IPv4' ? { family } : { family, scopeid: 0 }),
});

describe('the own address', () => {
  it('is the first IPv4 address that others can use', () => {
    const lo = [address('IPv4', '127.0.0.1', true)];
    const eth0 = [address('IPv6', 'fd00::1', false), address('IPv4', '10.1.2.3', false)];
    expect(ownAddress({ lo, eth0, eth1: [address('IPv4', '10.9.9.9', false)] })).toBe('10.1.2.3');
  });

  it('is the loopback where there is none', () => {
    expect(ownAddress({ lo: [address('IPv4', '127.0.0.1', true)], none: undefined })).toBe(
      '127.0.0.1',
    );
    expect(ownAddress({})).toBe('127.0.0.1');
  });
});
