import express, { type Express } from 'express';
import type { ProxyTrust } from './client-address.ts';

// In a file of its own, because it needs Express, and commands that only check proxies do not.

/** Creates an Express app that does not send `X-Powered-By`. @param trusted the proxies */
export function createExpress(trusted: ProxyTrust | number | readonly string[]): Express {
  const app = express().enable('case sensitive routing');
  app.disable('x-powered-by');
  app.set('trust proxy', trusted);
  return app;
}

/**
 * @param trusted a number of hops, or addresses and networks (`['10.0.0.0/8', 'loopback']`); none by default
 * @throws TypeError for a value that is not an address
 */
export function createProxyTrust(trusted: number | readonly string[] = []): ProxyTrust {
  // Express compiles the setting, so that `req.ip` in a product's handler is the same address as ours.
  return createExpress(trusted).get('trust proxy fn') as ProxyTrust;
}
