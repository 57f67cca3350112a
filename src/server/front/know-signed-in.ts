import type { IncomingMessage } from 'node:http';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';

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
    void answer.then((isSignedIn) => {
      info.isSignedIn = isSignedIn;
      next();
    });
  };
}
