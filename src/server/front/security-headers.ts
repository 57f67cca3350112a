import type { IncomingMessage } from 'node:http';
import type { HeaderList } from '../connection/http-server.ts';
import { API_POLICY } from '../errors/problem.ts';
import type { Origins } from '../request/origins.ts';
import { requestInfo } from '../request/request-info.ts';
import { isRead, type Step } from '../request/step.ts';

/** Turns off everything that Spillway's pages do not need. A product can set this header in its steps. */
const PERMISSIONS = [
  'accelerometer',
  'autoplay',
  'browsing-topics',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'serial',
  'usb',
  'xr-spatial-tracking',
]
  .map((feature) => `${feature}=()`)
  .join(', ');

const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'] as const;

/** Name and value of each header that every reply carries, including parser errors. */
export const SECURITY_HEADERS: HeaderList = [
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Origin-Agent-Cluster', '?1'],
  // With `no-referrer`, browsers post forms with `Origin: null`.
  ['Referrer-Policy', 'strict-origin-when-cross-origin'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['X-Permitted-Cross-Domain-Policies', 'none'],
  ['Permissions-Policy', PERMISSIONS],
  // Pages replace it by their own policy.
  ['Content-Security-Policy', API_POLICY],
];

/**
 * Adds the TLS-only header if this site serves nothing without TLS. For a request that could not be read, and for a
 * health check, the scheme is not known.
 */
export function toSecurityHeaders({ configured }: Pick<Origins, 'configured'>): HeaderList {
  const isSecure = configured.length > 0 && configured.every((origin) => origin.startsWith('https:'));
  return isSecure ? [...SECURITY_HEADERS, STRICT_TRANSPORT] : SECURITY_HEADERS;
}

/** All that a browser heeds in data. The others say how a page runs, and who can frame it. */
const OF_DATA = new Set([
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
]);

/** Sets the headers of pages and files, and fewer under `/api`: a page there has no script and no frame around it. */
export function securityHeaders(headers: HeaderList = SECURITY_HEADERS): Step {
  const ofData = headers.filter(([name]) => OF_DATA.has(name));
  return function securityHeaders(req, res, next) {
    // Not normalized yet. In another spelling, a path only gets headers that it does not need.
    const isData = req.url?.startsWith('/api/') === true;
    for (const [name, value] of isData ? ofData : headers) res.setHeader(name, value);
    next();
  };
}

/**
 * Adds headers that are only valid over TLS, if a trusted proxy or the configured origin says https. A browser keeps
 * the first header for a year, and only sends reports (crashes, deprecations) to a secure origin.
 *
 * @param reportPath the path that receives such reports
 */
export function strictTransport(reportPath: string | undefined): Step {
  const endpoints = reportPath && `default="${reportPath}"`;
  return function strictTransport(req, res, next) {
    if (requestInfo(req).secure) {
      res.setHeader(...STRICT_TRANSPORT);
      if (endpoints) res.setHeader('Reporting-Endpoints', endpoints);
    }
    next();
  };
}

/**
 * Keeps responses for one caller out of shared caches. The caller's own cache can store what it has read, but must
 * revalidate it each time. A handler can overwrite this.
 */
export function privateReplies(): Step {
  return function privateReplies(req, res, next) {
    res.setHeader('Cache-Control', toPrivateCaching(req));
    next();
  };
}

export function toPrivateCaching(req: IncomingMessage): string {
  return isRead(req) ? 'private, no-cache' : 'no-store';
}
