import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { Minute } from '../../shared/units.ts';
import { refuse } from '../errors/problem.ts';
import { cutText } from '../errors/trim.ts';
import type { Origins } from '../request/origins.ts';
import { requestInfo } from '../request/request-info.ts';
import { sayOnce } from '../request/say-once.ts';
import { isRead, type Step } from '../request/step.ts';

interface CrossSiteOptions {
  readonly origins: Origins;
  /** True if the page at `path` accepts form posts from `origin` (`acceptPostsFrom`). */
  readonly isAccepted?: (path: string, origin: string) => boolean;
  /** True for paths that are checked; all by default. Others are only marked, because an existing app has its own rules. */
  readonly covers?: (path: string) => boolean;
  /** True for a request that changes nothing; by default GET, HEAD and OPTIONS. A handshake of a WebSocket does. */
  readonly isSafe?: (req: IncomingMessage) => boolean;
  /** Callers of these paths can use a token, so only requests with credentials that browsers add are refused. */
  readonly takesTokens?: (path: string) => boolean;
  /** Receives a line with the reason, at most once a minute. */
  readonly log?: Logger;
}

/**
 * Refuses requests that another site makes a visitor's browser send, before the body is read. Browsers name the source
 * of a request in `Sec-Fetch-Site`, for which another of `PUBLIC_ORIGINS` is another site too. Old browsers, and all
 * browsers on plain HTTP to another machine, only send `Origin`. A request with neither is not from a browser and
 * carries no visitor's cookies.
 *
 * It also runs behind an existing app, and refuses marked requests that the app did not answer.
 */
export function crossSite({
  origins,
  isAccepted = () => false,
  covers = () => true,
  isSafe = (req) => isRead(req) || req.method === 'OPTIONS',
  takesTokens = () => false,
  log,
}: CrossSiteOptions): Step {
  const sayWhy =
    log &&
    sayOnce(
      log,
      'A request was refused as cross-site: its Origin is not the address that it was sent to, or the browser says that it comes from another site. If this line has no `site` and visitors use that Origin, add it to PUBLIC_ORIGINS. If its forms post to a page here, add it to acceptPostsFrom of the page.',
      Minute,
    );
  return function crossSite(req, res, next) {
    if (isSafe(req) || isOfThisSite(req, origins)) return next();
    const info = requestInfo(req);
    const { path } = info;
    const { origin } = req.headers;
    const accepted = origin !== undefined && origin !== 'null' && isAccepted(path, origin);
    if (accepted || (takesTokens(path) && !hasAddedCredentials(req))) return next();
    if (!covers(path) && !info.isCrossSite) {
      info.isCrossSite = true;
      return next();
    }
    sayWhy?.(describe(req));
    refuse(req, res, 403, 'This request comes from another site, so it was not carried out.');
  };
}

/** Browsers add cookies and these schemes of `Authorization` automatically. A token is only sent by a script. */
function hasAddedCredentials({ headers: { authorization, cookie } }: IncomingMessage): boolean {
  if (authorization !== undefined) return /^(?:basic|digest|negotiate|ntlm)\b/i.test(authorization);
  return cookie !== undefined;
}

/** If a proxy hides the address that visitors use, their own origin looks like another site's. */
function describe(req: IncomingMessage): Readonly<Record<string, unknown>> {
  const { origin, 'sec-fetch-site': site } = req.headers;
  const info = requestInfo(req);
  return {
    requestId: info.requestId,
    origin: origin && cutText(origin),
    site: site && cutText(String(site)),
    address: info.origin,
  };
}

/** True if the visitor's use of this site caused the request, or if it is not from a browser. */
export function isOfThisSite(req: IncomingMessage, origins: Origins): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = req.headers;
  return origin === undefined || origins.isOurs(origin, requestInfo(req).origin);
}
