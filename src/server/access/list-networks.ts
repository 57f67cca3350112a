import { isIPv6 } from 'node:net';
import { expandIPv6 } from '../engine/request/to-sender.ts';

/**
 * Lists the networks whose attempts count together, the narrowest first. For IPv4, that is only the address. For IPv6,
 * it is the address, its /64 (one machine or household, with 2^64 addresses) and its /48 (one customer, with 65,536 of
 * those).
 */
export function listNetworks(address: string): readonly string[] {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (!isIPv6(mapped)) return [mapped];
  const groups = expandIPv6(mapped);
  return [groups.join(':'), `${groups.slice(0, 4).join(':')}/64`, `${groups.slice(0, 3).join(':')}/48`];
}
