import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Addresses that are no public host, by the IANA registries of special-purpose addresses: this network, private, shared, loopback, link-local (with the clouds' metadata), documentation, benchmarks, multicast, reserved. */
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
  // Metadata of clouds that have it at a public one.
  '168.63.129.16/32',
];

/** Of IPv6 what is not handed out for hosts (`2000::/3`), and within that what is special or holds an IPv4 address. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/** `10.0.0.0/8`, or one address. @returns undefined where it is neither */
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

/** @param networks each by `toNetwork()`; what is none is left out */
export function createNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = toNetwork(text);
    if (network) list.addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => {
    const plain = toPlain(address);
    return list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
  };
}

const isSpecialV4 = createNetworks(SPECIAL_V4);
const isSpecialV6 = createNetworks(SPECIAL_V6);
const isHostV6 = createNetworks(['2000::/3']);

/** Whether an address is not one of a public host; what is no address at all is special too. */
export function isSpecialAddress(address: string): boolean {
  const plain = toPlain(address);
  if (isIPv4(plain)) return isSpecialV4(plain);
  return !isIPv6(plain) || !isHostV6(plain) || isSpecialV6(plain);
}

/** An IPv4 address in the clothes of IPv6 (`::ffff:127.0.0.1`, `::ffff:7f00:1`) is what it is; a zone is left out. */
function toPlain(address: string): string {
  const bare = address.replace(/%.*$/, '');
  if (!isIPv6(bare)) return bare;
  const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(new URL(`http://[${bare}]`).hostname);
  if (!mapped) return bare;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
