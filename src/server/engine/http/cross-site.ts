import type { IncomingMessage } from 'node:http';
import type { Origins } from './origins.ts';
import { refuse } from './refuse.ts';
import { requestInfo } from './request-info.ts';
import type { Step } from './step.ts';

export interface CrossSiteOptions {
  readonly origins: Origins;
  /** The page at `path` takes form posts from `origin` (`acceptPostsFrom`). */
  readonly isAccepted?: (path: string, origin: string) => boolean;
  /** What the check is for; everything by default. An existing app behind our pages keeps its own rules. */
  readonly covers?: (path: string) => boolean;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what another site makes a visitor's browser send, before the body is read. Browsers say in
 * `Sec-Fetch-Site` where a request comes from; those that do not (plain HTTP off this machine, old
 * ones) say it in `Origin`; a request with neither comes from no browser, and carries no visitor's
 * cookies.
 */
export function crossSite({ origins, isAccepted = () => false, covers = () => true }: CrossSiteOptions): Step {
  return function crossSite(req, res, next) {
    if (SAFE_METHODS.has(req.method ?? '') || isOfThisSite(req, origins)) {
      next();
      return;
    }
    const { path } = requestInfo(req);
    const { origin } = req.headers;
    const accepted = origin !== undefined && origin !== 'null' && isAccepted(path, origin);
    if (accepted || !covers(path)) {
      next();
      return;
    }
    refuse(req, res, 403, 'This request comes from another site, so it was not carried out.');
  };
}

/** Whether a visitor's browser sends this of its own accord, or something that is no browser does. */
export function isOfThisSite(req: IncomingMessage, origins: Origins): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = req.headers;
  return origin === undefined || origins.isOurs(origin, requestInfo(req).origin);
}
