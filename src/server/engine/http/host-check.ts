import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { toCheckedHost } from './host.ts';
import type { Origins } from './origins.ts';
import { isFromProxy, type ProxyTrust } from './proxy-trust.ts';
import { refuse } from './refuse.ts';
import { requestInfo } from './request-info.ts';
import type { Step } from './step.ts';

export interface HostCheckOptions {
  readonly origins: Origins;
  readonly trust: ProxyTrust;
  readonly log: Logger;
}

/**
 * Decides under which origin a request is answered. With `PUBLIC_ORIGINS` a host that is not in it
 * gets 421; without, any well-formed host is taken and the origin is made of it.
 */
export function hostCheck({ origins, trust, log }: HostCheckOptions): Step {
  let warned = false;
  // Nearly every request names the host that the last one named.
  let last = { given: '', scheme: '', host: undefined as string | undefined };

  return function hostCheck(req, res, next) {
    if (req.headers.host === undefined && req.httpVersion === '1.1') {
      refuse(req, res, 400, 'The request names no host, which HTTP/1.1 asks for.'); // RFC 9112, section 3.2
      return;
    }
    const trusted = isFromProxy(req, trust);
    if (!trusted && !warned && isForwarded(req)) {
      warned = true;
      log.warn(
        { peer: req.socket.remoteAddress },
        'A request carries X-Forwarded headers from an address that is not trusted, so they are ignored. If that is your proxy, set TRUST_PROXY to its address.',
      );
    }
    const scheme = readScheme(req, trusted);
    const given = readHost(req, trusted);
    if (given === undefined) {
      next(); // HTTP/1.0: the fallback stands
      return;
    }
    if (given !== last.given || scheme !== last.scheme) last = { given, scheme, host: toCheckedHost(given, scheme) };
    const { host } = last;
    if (host === undefined) {
      refuse(req, res, 400, 'The request names a malformed host.');
      return;
    }
    const origin = toOrigin(host, scheme, origins);
    if (origin === undefined) {
      refuse(req, res, 421);
      return;
    }
    requestInfo(req).setOrigin(origin);
    next();
  };
}

/** @param trusted the peer is a proxy of ours */
export function readScheme(req: IncomingMessage, trusted: boolean): 'http' | 'https' {
  return trusted && firstValue(req.headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
}

/** The host as it was sent, of whatever form. @param trusted the peer is a proxy of ours */
export function readHost(req: IncomingMessage, trusted: boolean): string | undefined {
  return (trusted ? firstValue(req.headers['x-forwarded-host']) : undefined) ?? req.headers.host;
}

/** @param host by `toCheckedHost()`. @returns undefined for one that is not answered for */
export function toOrigin(host: string, scheme: string, origins: Origins): string | undefined {
  return origins.configured.length === 0 ? `${scheme}://${host}` : origins.forHost(host);
}

function isForwarded(req: IncomingMessage): boolean {
  const { headers } = req;
  return Boolean(headers['x-forwarded-for'] ?? headers['x-forwarded-proto'] ?? headers['x-forwarded-host']);
}

function firstValue(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header).split(',')[0]?.trim().toLowerCase();
}
