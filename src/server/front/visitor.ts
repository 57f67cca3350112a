import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { requestInfo } from '../request/request-info.ts';
import { sayOnce } from '../request/say-once.ts';
import type { Step } from '../request/step.ts';

/** Longer ids are cut before they are hashed, so that a caller cannot make the server hash long texts (characters). */
const MAX_ID_LENGTH = 200;

/** Lets failures ask the product which visitor a request belongs to. */
export function visitorId(find: (request: IncomingMessage) => string | undefined, log: Pick<Logger, 'warn'>): Step {
  const warn = sayOnce(
    log,
    '`reporting.visitorId` of the product failed. Return a string or undefined, not a promise.',
  );

  function ask(req: IncomingMessage): string | undefined {
    try {
      const id: unknown = find(req);
      if (id === undefined || typeof id === 'string') return id?.slice(0, MAX_ID_LENGTH) || undefined;
      if (id instanceof Promise) id.catch(() => undefined);
      warn({});
    } catch (err) {
      warn({ err });
    }
    return undefined;
  }

  return function visitorId(req, _res, next) {
    // A weak reference, because work that continues after the reply must not keep the whole request in memory.
    const seen = new WeakRef(req);
    requestInfo(req).askVisitorId = () => {
      const request = seen.deref();
      return request && ask(request);
    };
    next();
  };
}

/**
 * Notes in each request whether its visitor can open failures. It runs before the site's handlers, because an error page is
 * rendered without waiting for anything.
 *
 * @param canOpen false without a wait, unless the request has a signed cookie
 * @param isTrackers paths of the tracker, which checks its visitors itself
 */
export function knowSignedIn(
  canOpen: (request: IncomingMessage) => false | Promise<boolean>,
  isTrackers: (path: string) => boolean,
): Step {
  return function knowSignedIn(req, _res, next) {
    const info = requestInfo(req);
    const answer = !isTrackers(info.path) && canOpen(req);
    if (!answer) return next();
    info.showsTimings = true;
    return answer.then((isSignedIn) => {
      info.isSignedIn = isSignedIn;
      next();
    });
  };
}
