import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';
import { API_POLICY } from './content-policy.ts';
import type { Origins } from './origins.ts';

/** Everything a page of ours does not need is off; an owner's own frames and devices are a header in their steps. */
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

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Name and value of each header that every reply carries, those of the parser's errors too. */
export const SECURITY_HEADERS: HeaderList = [
  ...collectHelmetHeaders(),
  ['Permissions-Policy', PERMISSIONS],
  // Pages put their own policy in its place.
  ['Content-Security-Policy', API_POLICY],
];

/**
 * With what holds over TLS alone, where nothing of this site is served without: of a request that could
 * not be read, and of one for the health, nobody knows by what it came.
 */
export function toSecurityHeaders({ configured }: Pick<Origins, 'configured'>): HeaderList {
  const isSecure = configured.length > 0 && configured.every((origin) => origin.startsWith('https:'));
  return isSecure ? [...SECURITY_HEADERS, STRICT_TRANSPORT] : SECURITY_HEADERS;
}

export function securityHeaders(headers: HeaderList = SECURITY_HEADERS): Step {
  return function securityHeaders(_req, res, next) {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}

/**
 * What holds over TLS alone, as far as a trusted proxy or the configured origin says: a browser keeps
 * the first header for a year, and sends reports (crashes, deprecations) nowhere else.
 *
 * @param reportPath where such reports are taken
 */
export function strictTransport({ reportPath }: { reportPath?: string | undefined } = {}): Step {
  const endpoints = reportPath && `default="${reportPath}"`;
  return function strictTransport(req, res, next) {
    if (requestInfo(req).secure) {
      res.setHeader(...STRICT_TRANSPORT);
      if (endpoints) res.setHeader('Reporting-Endpoints', endpoints);
    }
    next();
  };
}

/** Helmet works the same headers out for each request; it is asked once. */
function collectHelmetHeaders(): [string, string][] {
  const headers: [string, string][] = [];
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  res.setHeader = (name, value) => {
    headers.push([name, String(value)]);
    return res;
  };
  const step = helmet({
    contentSecurityPolicy: false, // each kind of answer has its own
    strictTransportSecurity: false, // decided by request
    // The default `no-referrer` makes browsers post forms with `Origin: null`.
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
    xFrameOptions: { action: 'deny' },
  });
  step(req, res, () => undefined);
  return headers;
}
