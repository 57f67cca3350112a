import type { RequestHandler } from 'express';
import { DATA_PREFIX } from '../../shared/wire/protocol.ts';
import type { RequestInfo } from './request-info.ts';

/**
 * Returns the page's own URL from that of its page data, with or without a query; `undefined` for any other URL.
 *
 * @param base the path that all pages of the app share (`/admin`), empty for none
 */
export function toPageUrl(url: string, base = ''): string | undefined {
  const prefix = base + DATA_PREFIX;
  if (!url.startsWith(prefix)) return undefined;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `${base || '/'}${rest}`;
  return rest.startsWith('/') ? base + rest : undefined;
}

/**
 * Whether one of the engine's links fetches page data ahead of a click. The answer is shown only if it did not fail.
 *
 * @param page the path of the page, if it is known
 */
export function isLinkPrefetch({ headers = {}, path }: RequestInfo, page = toPageUrl(path)): boolean {
  // While the browser prerenders a page, its requests have `Sec-Purpose`, and what they got is shown later.
  const isOurs = headers.purpose === 'prefetch' && headers['sec-purpose'] === undefined;
  return isOurs && page !== undefined && page !== path;
}

/**
 * Runs a step of the product for page data as if the page itself were requested, so that a step that protects `/admin`
 * protects `/_data/admin` too.
 *
 * @returns what the step returns: Express waits for its promise, so a rejection gets a response
 */
export function seenAsPage(step: RequestHandler): RequestHandler {
  return function seenAsPage(req, res, next) {
    const original = req.url;
    const pageUrl = toPageUrl(original);
    if (pageUrl === undefined) return step(req, res, next);
    req.url = pageUrl;
    return step(req, res, (error?: unknown) => {
      req.url = original;
      next(error);
    });
  };
}
