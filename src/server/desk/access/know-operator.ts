import type { IncomingMessage } from 'node:http';
import { Millisecond } from '../../../shared/units.ts';
import { requestInfo } from '../../engine/request/request-info.ts';
import type { Step } from '../../engine/request/step.ts';
import { sessionCookieOf } from './credentials.ts';
import type { SignIn } from './sign-in.ts';

/** How long a page of the site waits for the store (ms). */
const PATIENCE = 250 * Millisecond;

/** Returns a promise only if the store has to be asked. */
export type IsOperator = (req: IncomingMessage) => boolean | Promise<boolean>;

/**
 * Returns whether a visitor of the site is signed in to the desk; false if the store does not answer in time. An id
 * that this desk did not issue is rejected without the store.
 */
export function createIsOperator(signIn: Pick<SignIn, 'identify'>): IsOperator {
  return function isOperator(req) {
    const operator = signIn.identify(sessionCookieOf(req) ?? '');
    return operator instanceof Promise ? withinPatience(operator) : operator !== undefined;
  };
}

async function withinPatience(operator: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, PATIENCE, undefined);
  });
  const known = await Promise.race([operator.catch(() => undefined), late]);
  clearTimeout(timer);
  return known !== undefined;
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
    const is = isOperator(req);
    if (typeof is === 'boolean') {
      info.isOperator = is;
      next();
      return;
    }
    void is.then((known) => {
      info.isOperator = known;
      next();
    });
  };
}
