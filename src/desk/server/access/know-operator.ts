import type { IncomingMessage } from 'node:http';
import { requestInfo } from '../../../server/request/request-info.ts';
import type { Step } from '../../../server/request/step.ts';
import { Millisecond } from '../../../shared/units.ts';
import { withinTime } from '../within-time.ts';
import { sessionCookieOf } from './credentials.ts';
import type { SignIn } from './sign-in.ts';

/** How long a page of the site waits for the store (ms). */
const PATIENCE = 250 * Millisecond;

export type IsOperator = (req: IncomingMessage) => Promise<boolean>;

/** Returns whether a visitor of the site is signed in to the desk; false if the store does not answer in time. */
export function createIsOperator(signIn: Pick<SignIn, 'identify'>): IsOperator {
  return async function isOperator(req) {
    const operator = withinTime(PATIENCE, signIn.identify(sessionCookieOf(req) ?? ''));
    return (await operator.catch(() => undefined)) !== undefined;
  };
}

interface KnowOperatorOptions {
  readonly signIn: Pick<SignIn, 'isIssued'>;
  readonly isOperator: IsOperator;
  /** The paths that check the session themselves. */
  readonly covers: (path: string) => boolean;
}

/** Runs before the site's handlers, because an error page is rendered without waiting for anything. */
export function knowOperator({ signIn, isOperator, covers }: KnowOperatorOptions): Step {
  return function knowOperator(req, _res, next) {
    const info = requestInfo(req);
    if (covers(info.path) || !signIn.isIssued(sessionCookieOf(req) ?? '')) {
      next();
      return;
    }
    info.showsTimings = true;
    void isOperator(req).then((known) => {
      info.isOperator = known;
      next();
    });
  };
}
