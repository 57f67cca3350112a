import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import express from 'express';

/** Whether the address at this distance is a proxy of ours; 0 is the peer of the socket. */
export type ProxyTrust = (address: string, distance: number) => boolean;

/**
 * @param trusted a number of hops, or addresses and networks (`['10.0.0.0/8', 'loopback']`); none by default
 * @throws TypeError for what is no address
 */
export function createProxyTrust(trusted: number | readonly string[] = []): ProxyTrust {
  // Express compiles the setting, so that `req.ip` in an owner's handler and our address agree.
  const app = express();
  app.set('trust proxy', trusted);
  return app.get('trust proxy fn') as ProxyTrust;
}

/** The peer is a proxy of ours, so what it says of the visitor counts. */
export function isFromProxy(req: IncomingMessage, trust: ProxyTrust): boolean {
  return trust(req.socket.remoteAddress ?? '', 0);
}

/** The nearest address that is no proxy of ours. What stands before it in `X-Forwarded-For` anyone could have written. */
export function toClientAddress(req: IncomingMessage, trust: ProxyTrust): string {
  let address = req.socket.remoteAddress ?? '';
  const forwarded = req.headers['x-forwarded-for'];
  if (forwarded === undefined || !trust(address, 0)) return address;
  const hops = String(forwarded).split(',').reverse();
  for (const [index, hop] of hops.entries()) {
    if (!trust(address, index)) break;
    const next = hop.trim();
    if (isIP(next) === 0) break;
    address = next;
  }
  return address;
}
