import type { Logger } from 'pino';
import { toPageUrl } from '../pages/page-url.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';

/** Warns once for each cookie that a prefetch changes: pointing at a link to `/sign-out` must not sign out. */
export function warnOfCookies(log: Pick<Logger, 'warn'>): Step {
  const known = new Set<string>();
  return function warnOfCookies(req, res, next) {
    const info = requestInfo(req);
    const path = toPageUrl(info.path) ?? info.path;
    if (info.isPrefetch) res.once('finish', warn);
    next();

    function warn(): void {
      const sent = (req.headers.cookie ?? '').split(/; */);
      for (const cookie of [res.getHeader('Set-Cookie') ?? []].flat()) {
        const [pair = ''] = String(cookie).split(';', 1);
        const name = pair.replace(/=.*$/s, '');
        // The same value only lasts longer, as in a session that rolls.
        if (sent.includes(pair) || known.has(`${path} ${name}`)) continue;
        known.add(`${path} ${name}`);
        log.warn({ path, cookie: name }, CHANGED);
      }
    }
  };
}

const CHANGED =
  'A prefetch changed a cookie, so pointing at a link does what a click does. If the page changes something, such as signing out, make it an action. If a guard or loader must set the cookie, do so only if args.isPrefetch is false, or give the link prefetch="none".';
