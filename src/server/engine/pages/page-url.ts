import type { RequestHandler } from 'express';
import { DATA_PREFIX } from '../../../shared/engine/wire/protocol.ts';

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
