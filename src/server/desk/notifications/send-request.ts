import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { AddressFinder, CheckedAddress } from '../../engine/outgoing/find-address.ts';
import { LateTargetError, withinTime } from '../../engine/outgoing/within-time.ts';
import { TARGET_TIME } from '../../limits.ts';

export interface Reply {
  readonly status: number;
  /** The `Retry-After` header as it was sent. */
  readonly retryAfter?: string | undefined;
}

export interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

interface SendRequestOptions {
  readonly addresses: AddressFinder;
  readonly totalTime?: number;
}

/** Posts to a URL. Rejects if there was no response. */
export type SendRequest = (url: URL, parts: RequestParts) => Promise<Reply>;

/**
 * Sends requests to URLs from settings. The checked address is the one that is used, redirects are not followed, and a
 * response that is too slow is cut off.
 */
export function createSendRequest({ addresses, totalTime = TARGET_TIME }: SendRequestOptions): SendRequest {
  return (url, parts) => {
    const signal = AbortSignal.timeout(totalTime);
    const found = addresses.find(url.hostname.replace(/^\[(.*)\]$/, '$1'));
    return withinTime(
      totalTime,
      found.then((some) => post(url, parts, some, signal)),
    );
  };
}

function post(
  url: URL,
  { headers, body }: RequestParts,
  found: readonly CheckedAddress[],
  signal: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      // No keep-alive and no pool, because a pooled connection has no checked address.
      agent: false,
      lookup: toLookup(found),
      signal,
      headers: { 'User-Agent': 'Spillway', ...headers, 'Content-Length': Buffer.byteLength(body) },
    });
    request.once('response', (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
      response.destroy(); // its text is not used
    });
    request.on('error', (error) => reject(signal.aborted ? new LateTargetError() : error));
    request.end(body);
  });
}

/** Returns the checked addresses for any host name. */
function toLookup(found: readonly CheckedAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = found;
    if (all) done(null, [...found]);
    else done(null, first?.address ?? '', first?.family);
  };
}
