import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { AddressFinder, CheckedAddress } from '../../engine/outgoing/find-address.ts';
import { LateTargetError } from '../../engine/outgoing/within-time.ts';
import { TARGET_CONNECT_TIME, TARGET_TIME } from '../../limits.ts';
import { MAX_TARGET_REPLY_BYTES } from '../limits.ts';

export interface Reply {
  readonly status: number;
  /** The `Retry-After` header as it was sent. */
  readonly retryAfter?: string | undefined;
}

export interface RequestParts {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface SendRequestOptions {
  readonly addresses: AddressFinder;
  readonly connectTime?: number;
  readonly totalTime?: number;
}

/** Rejects if there was no response. */
export type SendRequest = (url: URL, parts: RequestParts) => Promise<Reply>;

/**
 * Sends requests to URLs from settings. The checked address is the one that is used, redirects are not followed, and a
 * response that is too slow or too long is cut off.
 */
export function createSendRequest(options: SendRequestOptions): SendRequest {
  const { addresses, connectTime = TARGET_CONNECT_TIME, totalTime = TARGET_TIME } = options;
  return async (url, parts) => {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => undefined);
    const ending = new AbortController();
    const cut = () => {
      late.reject(new LateTargetError());
      ending.abort();
    };
    const timer = setTimeout(cut, totalTime);
    const onClose = () => clearTimeout(timer);
    try {
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      const found = await Promise.race([addresses.find(host), late.promise]);
      const asked = { found, connectTime, cut, onClose, signal: ending.signal };
      return await Promise.race([ask(url, parts, asked), late.promise]);
    } catch (error) {
      onClose();
      throw error;
    }
  };
}

interface Asked {
  readonly found: readonly CheckedAddress[];
  readonly connectTime: number;
  readonly cut: () => void;
  /** Called when the connection has closed, after the whole body. */
  readonly onClose: () => void;
  readonly signal: AbortSignal;
}

function ask(url: URL, { method, headers = {}, body = '' }: RequestParts, asked: Asked): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method,
      // No keep-alive and no pool, because a pooled connection has no checked address.
      agent: false,
      lookup: toLookup(asked.found),
      signal: asked.signal,
      headers: {
        'User-Agent': 'Spillway',
        ...headers,
        ...(method === 'POST' && { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
    };
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options);
    const connecting = setTimeout(asked.cut, asked.connectTime);
    request.once('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
    });
    request.once('response', (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > MAX_TARGET_REPLY_BYTES) request.destroy();
      });
      response.on('error', () => undefined);
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
    });
    request.on('error', reject);
    request.once('close', () => {
      clearTimeout(connecting);
      asked.onClose();
    });
    request.end(method === 'POST' ? body : undefined);
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
