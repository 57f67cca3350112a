import { describe, expect, it } from 'vitest';
import {
  createAddressFinder,
  ForbiddenTargetError,
  type Lookup,
} from '../../../../src/server/engine/outgoing/find-address.ts';
import { isSpecialAddress } from '../../../../src/server/engine/outgoing/special-addresses.ts';

describe('a special address', () => {
  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.192', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.9'],
    ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
    ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '100::1', '64:ff9b::7f00:1'],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:a9fe:a9fe',
      '::127.0.0.1',
      '2001:db8::1',
      '2001::1',
      '2002:7f00:1::',
    ],
    ...['3fff::1', 'example.com', '', '127.1', '2130706433', '0x7f.1'],
  ])('includes %s', (address) => {
    expect(isSpecialAddress(address)).toBe(true);
  });

  it.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    'does not include %s',
    (address) => {
      expect(isSpecialAddress(address)).toBe(false);
    },
  );
});

describe('a notification target', () => {
  const lookup =
    (...addresses: string[]): Lookup =>
    async () =>
      addresses.map((address) => ({ address }));

  it('can be a name with public addresses', async () => {
    const { find } = createAddressFinder([], lookup('93.184.216.34', '2606:4700::1111'));
    expect(await find('example.com')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  it('uses only the public addresses of a name', async () => {
    const { find } = createAddressFinder([], lookup('127.0.0.1', '93.184.216.34'));
    expect(await find('example.com')).toEqual([{ address: '93.184.216.34', family: 4 }]);
  });

  it.each([
    ['a name that resolves to a private address', 'inside.example', ['10.0.0.5']],
    ['a name of the metadata service', 'metadata.example', ['169.254.169.254', 'fd00:ec2::254']],
    ['an address', '127.0.0.1', []],
    ['an IPv6 address', '::1', []],
    ['an IPv4-mapped address', '::ffff:10.0.0.1', []],
  ])('cannot be %s', async (_name, host, addresses) => {
    const { find, isListed } = createAddressFinder(['other.example', '10.0.1.0/24'], lookup(...addresses));
    await expect(find(host)).rejects.toThrow(ForbiddenTargetError);
    await expect(find(host)).rejects.toThrow('list it in NOTIFY_PRIVATE_TARGETS');
    expect(isListed(host)).toBe(false);
  });

  it.each([
    ['a name', 'Inside.Example', ['inside.example']],
    ['an address', '10.0.0.5', ['10.0.0.5']],
    ['a network that a name resolves to', 'inside.example', ['10.0.0.0/24']],
    ['an IPv6 address', '::1', ['::1']],
    ['an IPv4-mapped address', '::ffff:10.0.0.5', ['10.0.0.0/8']],
  ])('can be %s if it is listed', async (_name, host, listed) => {
    const { find } = createAddressFinder(listed, lookup('10.0.0.5'));
    expect(await find(host)).toHaveLength(1);
  });
});
