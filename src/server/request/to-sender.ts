import { isIPv4, isIPv6 } from 'node:net';

/** Returns who shares a limit: an IPv4 address, or the /64 that one household or machine has in IPv6. */
export function toSender(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped;
  return expandIPv6(mapped).slice(0, 4).join(':');
}

/** Returns the eight groups of an address, without leading zeros. */
export function expandIPv6(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...new Array<string>(gap).fill('0'), ...right].map((group) => group.replace(/^0+(?=.)/, ''));
}
