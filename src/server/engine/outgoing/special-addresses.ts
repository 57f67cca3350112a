import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Networks without public hosts, from the IANA registries of special-purpose addresses: this network, private, shared,
 * loopback, link-local (with cloud metadata), documentation, benchmarks, multicast, reserved.
 */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Cloud metadata at a public address.
  '168.63.129.16/32',
];

/** IPv6 networks within `2000::/3`, which has all hosts, that are special or contain IPv4 addresses. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/** Parses `10.0.0.0/8`, or one address. @returns undefined if it is neither */
export function toNetwork(text: string): { address: string; prefix: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
  if (!family || rest.length > 0) return undefined;
  const longest = family === 'ipv4' ? 32 : 128;
  if (length === undefined) return { address, prefix: longest, family };
  return /^\d{1,3}$/.test(length) && Number(length) <= longest
    ? { address, prefix: Number(length), family }
    : undefined;
}

/**
 * Returns a function that checks whether an address is in one of the networks. An IPv4 address mapped into IPv6
 * (`::ffff:127.0.0.1`) is looked up as IPv4, and a zone is ignored.
 *
 * @param networks as `toNetwork()` reads them; other texts are ignored
 */
export function createNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = toNetwork(text);
    if (network) list.addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => {
    const bare = withoutZone(address);
    return list.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4');
  };
}

const isSpecial = createNetworks([...SPECIAL_V4, ...SPECIAL_V6]);
/** Other IPv6 addresses do not belong to hosts. */
const isHostOrMapped = createNetworks(['2000::/3', '::ffff:0:0/96']);

/** Returns whether an address does not belong to a public host. A text that is not an address counts as special. */
export function isSpecialAddress(address: string): boolean {
  const bare = withoutZone(address);
  if (isIPv4(bare)) return isSpecial(bare);
  return !isIPv6(bare) || !isHostOrMapped(bare) || isSpecial(bare);
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}
