import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, isIPv6 } from 'node:net';

/** True if the address at this distance is a trusted proxy; 0 is the peer of the socket. */
export type ProxyTrust = (address: string, distance: number) => boolean;

/** True if the peer is a trusted proxy, so that its headers about the visitor count. */
export function isFromProxy(req: IncomingMessage, trust: ProxyTrust): boolean {
  return trust(req.socket.remoteAddress ?? '', 0);
}

/** Gateways of Azure add the port of their client: `192.0.2.7:51234`, `[2001:db8::7]:51234`. */
const PORT = /^([\d.]+):\d+$|^\[([\da-f:.]+)\](?::\d+)?$/i;

/** Returns the nearest address that is not a trusted proxy. Anyone can write what precedes it in `X-Forwarded-For`. */
export function toClientAddress(req: IncomingMessage, trust: ProxyTrust): string {
  // Node removes the socket from some requests that have ended.
  let address = req.socket?.remoteAddress ?? '';
  const forwarded = req.headers['x-forwarded-for'];
  if (forwarded === undefined || !trust(address, 0)) return address;
  const hops = String(forwarded).split(',').reverse();
  for (const [index, hop] of hops.entries()) {
    if (!trust(address, index)) break;
    const next = hop.trim().replace(PORT, '$1$2');
    if (isIP(next) === 0) break;
    address = next;
  }
  return address;
}

/** Returns who shares a limit: an IPv4 address, or the /64 that one household or machine has in IPv6. */
export function toSender(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped;
  const [head = '', tail] = mapped.toLowerCase().replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...new Array<string>(gap).fill('0'), ...right].slice(0, 4);
  return groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':');
}
