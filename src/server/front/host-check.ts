import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { refuse } from '../errors/problem.ts';
import { isFromProxy, type ProxyTrust } from '../request/client-address.ts';
import { type Origins, toCheckedHost } from '../request/origins.ts';
import { requestInfo } from '../request/request-info.ts';
import { sayOnce } from '../request/say-once.ts';
import type { Step } from '../request/step.ts';

interface HostCheckOptions {
  readonly origins: Origins;
  readonly trust: ProxyTrust;
  readonly log: Logger;
}

/**
 * Hosts that `npm run dev` answers without `PUBLIC_ORIGINS`: localhost and IP addresses. A name that another site lets point
 * to this machine (DNS rebinding, as in CVE-2025-24010) would give its scripts the source.
 */
const DEV_HOST = /^(?:(?:.*\.)?localhost|\d+(?:\.\d+){3}|\[.*\])(?::\d+)?$/;

/**
 * Decides under which origin a request is answered. With `PUBLIC_ORIGINS`, any other host gets 421. Without it, any
 * well-formed host is accepted, and the origin is made from it.
 */
export function hostCheck({ origins, trust, log }: HostCheckOptions): Step {
  const sayUntrusted = sayOnce(
    log,
    'A request carries X-Forwarded headers or Forwarded from an address that is not trusted, so they are ignored. If that is your proxy, have it set X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host (Forwarded is never read), and set TRUST_PROXY to its address.',
  );
  const isAny = origins.configured.length === 0;
  const isDevelopment = Boolean(process.env.SPILLWAY_DEV);
  // Nearly every request has the same host as the one before.
  let last = read('', 'http');

  function read(given: string, scheme: 'http' | 'https') {
    const host = toCheckedHost(given, scheme);
    const origin = host === undefined ? undefined : isAny ? `${scheme}://${host}` : origins.forHost(host);
    return { given, scheme, host, origin };
  }

  return function hostCheck(req, res, next) {
    if (req.headers.host === undefined && req.httpVersion === '1.1')
      return refuse(req, res, 400, 'The request has no Host header, which HTTP/1.1 requires.'); // RFC 9112, section 3.2
    const trusted = isFromProxy(req, trust);
    if (!trusted && isForwarded(req)) sayUntrusted({ peer: req.socket.remoteAddress });
    const scheme = readScheme(req, trusted);
    const given = readHost(req, trusted);
    if (given === undefined) return next(); // HTTP/1.0: the fallback remains
    if (given !== last.given || scheme !== last.scheme) last = read(given, scheme);
    const { host, origin } = last;
    if (host === undefined) return refuse(req, res, 400, 'The request names a malformed host.');
    if (isAny && isDevelopment && !DEV_HOST.test(host)) {
      return refuse(
        req,
        res,
        421,
        `npm run dev answers to localhost and IP addresses. Set PUBLIC_ORIGINS to ${origin} and all others that you use.`,
      );
    }
    if (origin === undefined) return refuse(req, res, 421);
    requestInfo(req).origin = origin;
    next();
  };
}

/** @param trusted the peer is a trusted proxy */
export function readScheme(req: IncomingMessage, trusted: boolean): 'http' | 'https' {
  return trusted && firstValue(req.headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
}

/** Returns the host as it was sent, even if it is malformed. @param trusted the peer is a trusted proxy */
export function readHost(req: IncomingMessage, trusted: boolean): string | undefined {
  return (trusted ? firstValue(req.headers['x-forwarded-host']) : undefined) ?? req.headers.host;
}

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded'];

function isForwarded({ headers }: IncomingMessage): boolean {
  for (const name of FORWARDED) if (headers[name] !== undefined) return true;
  return false;
}

function firstValue(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header).split(',')[0]?.trim().toLowerCase();
}
