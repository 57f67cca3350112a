import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { Second } from '../../shared/units.ts';
import type { Dsn } from './dsn.ts';
import { type RateLimit, readRateLimits } from './rate-limits.ts';

/** How long an upstream can take to accept a connection, and to respond in total (ms). */
const CONNECT_TIMEOUT = 3 * Second;
const TOTAL_TIMEOUT = 10 * Second;

export interface UpstreamOptions {
  readonly dsn: Dsn;
  /** The most open connections (a count). */
  readonly connections: number;
  /** Milliseconds. */
  readonly connectTimeout?: number;
  /** Milliseconds. */
  readonly totalTimeout?: number;
}

/** The result of sending an envelope. The response's body is not read. */
export interface Answer {
  /** 0 if there was no response: refused, reset, or too late. */
  readonly status: number;
  readonly limits: readonly RateLimit[];
}

export interface Upstream {
  /** Never rejects. */
  send(envelope: Uint8Array, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer>;
  close(): void;
}

const NO_ANSWER: Answer = { status: 0, limits: [] };

/** Posts envelopes to the endpoint of the DSN. Redirects are not followed. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { dsn, connectTimeout = CONNECT_TIMEOUT, totalTimeout = TOTAL_TIMEOUT } = options;
  const secure = dsn.endpoint.protocol === 'https:';
  const agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: options.connections });
  const own = {
    'Content-Type': 'application/x-sentry-envelope',
    'X-Sentry-Auth': `Sentry sentry_version=7, sentry_client=spillway/1, sentry_key=${dsn.publicKey}`,
  };

  return {
    send(envelope, headers, signal) {
      return new Promise((resolve) => {
        const request = (secure ? requestHttps : requestHttp)(dsn.endpoint, {
          method: 'POST',
          agent,
          signal,
          headers: { ...headers, ...own, 'Content-Length': envelope.byteLength },
        });
        const give = () => request.destroy();
        const connecting = setTimeout(give, connectTimeout);
        const total = setTimeout(give, totalTimeout);
        request.once('socket', (socket) => {
          if (!socket.connecting) clearTimeout(connecting);
          else socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
        });
        request.once('response', (response) => {
          resolve(toAnswer(response));
          response.resume();
        });
        // A socket can fail again after the request failed.
        request.on('error', () => resolve(NO_ANSWER));
        request.once('close', () => {
          clearTimeout(connecting);
          clearTimeout(total);
          resolve(NO_ANSWER);
        });
        request.end(envelope);
      });
    },
    close: () => agent.destroy(),
  };
}

function toAnswer({ statusCode = 0, headers }: IncomingMessage): Answer {
  const rateLimits = headers['x-sentry-rate-limits'];
  return {
    status: statusCode,
    limits: readRateLimits(statusCode, {
      rateLimits: Array.isArray(rateLimits) ? rateLimits.join(',') : rateLimits,
      retryAfter: headers['retry-after'],
    }),
  };
}
