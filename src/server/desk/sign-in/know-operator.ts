import type { IncomingMessage, ServerResponse } from 'node:http';
import { Millisecond } from '../../../shared/units.ts';
import { requestInfo } from '../../engine/http/request-info.ts';
import type { Step } from '../../engine/http/step.ts';
import type { ReadAccess } from './access.ts';
import { readSessionCookie } from './session-cookie.ts';

/** A store that takes longer must not hold up a page of the site (ms). */
const PATIENCE = 250 * Millisecond;

export type IsOperator = (req: IncomingMessage, res: ServerResponse) => Promise<boolean>;

/** Whether a visitor of the site is signed in to the desk. Who has no cookie of it is not, and costs nothing. */
export function createIsOperator(readAccess: ReadAccess): IsOperator {
  return async function isOperator(req, res) {
    if (readSessionCookie(req) === undefined) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, PATIENCE, false);
    });
    const known = readAccess(req, res).then(
      ({ operator }) => operator !== undefined,
      () => false,
    );
    const is = await Promise.race([known, late]);
    clearTimeout(timer);
    return is;
  };
}

/**
 * Finds out before the site answers, because a failure's page is made without waiting for anything.
 *
 * @param covers what finds out for itself
 */
export function knowOperator(isOperator: IsOperator, covers: (path: string) => boolean): Step {
  return function knowOperator(req, res, next) {
    const info = requestInfo(req);
    if (readSessionCookie(req) === undefined || covers(info.path)) {
      next();
      return;
    }
    void isOperator(req, res).then((is) => {
      info.isOperator = is;
      next();
    });
  };
}
