import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { cutText } from '../errors/trim.ts';
import { refuse } from '../request/refuse.ts';
import { requestInfo } from '../request/request-info.ts';
import { sayOnce } from '../request/say-once.ts';
import type { Step } from '../request/step.ts';
import type { Origins } from './origins.ts';

export interface CrossSiteOptions {
  readonly origins: Origins;
  /** The page at `path` takes form posts from `origin` (`acceptPostsFrom`). */
  readonly isAccepted?: (path: string, origin: string) => boolean;
  /** What the check is for; everything by default. An existing app behind our pages keeps its own rules. */
  readonly covers?: (path: string) => boolean;
  /** Callers of these paths may authenticate with a token: only requests with credentials that browsers add are refused. */
  readonly takesTokens?: (path: string) => boolean;
  /** Told once where PUBLIC_ORIGINS is missing; without it nobody is. */
  readonly log?: Logger;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what another site makes a visitor's browser send, before the body is read. Browsers say in
 * `Sec-Fetch-Site` where a request comes from; those that do not (plain HTTP off this machine, old
 * ones) say it in `Origin`; a request with neither comes from no browser, and carries no visitor's
 * cookies.
 */
export function crossSite({
  origins,
  isAccepted = () => false,
  covers = () => true,
  takesTokens = () => false,
  log,
}: CrossSiteOptions): Step {
  const notice = log && originNotice(origins, log);
  return function crossSite(req, res, next) {
    if (SAFE_METHODS.has(req.method ?? '') || isOfThisSite(req, origins)) return next();
    const { path } = requestInfo(req);
    const { origin } = req.headers;
    const accepted = origin !== undefined && origin !== 'null' && isAccepted(path, origin);
    if (accepted || !covers(path) || (takesTokens(path) && !hasAddedCredentials(req))) return next();
    notice?.(req);
    refuseOtherSite(req, res);
  };
}

/** Browsers add cookies, and these schemes of `Authorization`, by themselves. A script has to send a token. */
function hasAddedCredentials({ headers: { authorization, cookie } }: IncomingMessage): boolean {
  if (authorization !== undefined) return /^(?:basic|digest|negotiate|ntlm)\b/i.test(authorization);
  return cookie !== undefined;
}

export function refuseOtherSite(req: IncomingMessage, res: ServerResponse): void {
  refuse(req, res, 403, 'This request comes from another site, so it was not carried out.');
}

/**
 * Says once what to set, where a proxy hides by which address visitors come: their own origin looks like
 * another site's then. Where the browser itself says that it is another site's, nothing is wrong.
 */
export function originNotice(origins: Origins, log: Logger): (req: IncomingMessage) => void {
  const say = sayOnce(
    log,
    'A request was refused as one of another site, because its Origin is not the address that it came to. If visitors come by that Origin, set PUBLIC_ORIGINS to it.',
  );
  return (req) => {
    const { origin, 'sec-fetch-site': site } = req.headers;
    if (origins.configured.length > 0 || site !== undefined || origin === undefined || origin === 'null') return;
    say({ origin: cutText(origin), address: requestInfo(req).origin });
  };
}

/** Whether a visitor's browser sends this of its own accord, or something that is no browser does. */
export function isOfThisSite(req: IncomingMessage, origins: Origins): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = req.headers;
  return origin === undefined || origins.isOurs(origin, requestInfo(req).origin);
}
