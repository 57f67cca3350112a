import type { Request, RequestHandler } from 'express';
import { Second } from '../../../shared/units.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { requestInfo } from '../../engine/request/request-info.ts';
import { readBearer } from '../access/bearer.ts';
import type { CheckToken } from '../access/check-token.ts';
import type { Operator } from '../access/operator-tokens.ts';

const callers = new WeakMap<Request, Operator>();

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="desk"';

/**
 * Lets nobody in but by a token in `Authorization`. A cookie says nothing here, so no other site can
 * use a browser's session.
 */
export function requireCaller(checkToken: CheckToken): RequestHandler {
  return async function requireCaller(req, _res, next) {
    const token = readBearer(req);
    if (token === undefined) {
      throw new HttpError(401, 'Send a token of this desk: "Authorization: Bearer <token>".', {
        'WWW-Authenticate': CHALLENGE,
      });
    }
    const checked = await checkToken(token, requestInfo(req).address);
    if (checked.kind === 'too-many') {
      throw new HttpError(429, 'There were too many wrong tokens. Wait a minute, then try again.', {
        'Retry-After': String(Math.ceil(checked.waitMs / Second)),
      });
    }
    if (checked.kind === 'wrong') {
      throw new HttpError(401, 'This is no token of this desk.', {
        'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"`,
      });
    }
    const { name, role } = checked.token;
    if (role !== 'operator' && !READS.has(req.method)) {
      throw new HttpError(403, 'This token may look, and change nothing. Use one of an operator.', {
        'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope"`,
      });
    }
    callers.set(req, { name, role });
    next();
  };
}

/**
 * Who asks: the name that stands beside what is changed.
 *
 * @throws Error where the step did not run
 */
export function authorOf(req: Request): string {
  const caller = callers.get(req);
  if (caller) return caller.name;
  throw new Error('authorOf() was asked for a request that nobody let in. Leave requireCaller() in front.');
}
