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

/** Requires a token in `Authorization`. Cookies are ignored, so that other sites cannot use a browser's session. */
export function requireCaller(checkToken: CheckToken): RequestHandler {
  return async function requireCaller(req, _res, next) {
    const token = readBearer(req);
    if (token === undefined) {
      throw new HttpError(401, 'A token is required. Send the header "Authorization: Bearer <token>".', {
        'WWW-Authenticate': CHALLENGE,
      });
    }
    const checked = await checkToken(token, requestInfo(req).address);
    if (checked.kind === 'too-many') {
      throw new HttpError(429, 'Too many wrong tokens. Wait a minute, then try again.', {
        'Retry-After': String(Math.ceil(checked.waitMs / Second)),
      });
    }
    if (checked.kind === 'wrong') {
      throw new HttpError(401, 'That token is not valid.', {
        'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"`,
      });
    }
    const { name, role } = checked.token;
    if (role !== 'operator' && !READS.has(req.method)) {
      throw new HttpError(403, 'This token is read-only. Use a token of OPERATOR_TOKEN.', {
        'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope"`,
      });
    }
    callers.set(req, { name, role });
    next();
  };
}

/**
 * Returns the name that is recorded with changes by this caller.
 *
 * @throws Error if `requireCaller` did not run
 */
export function authorOf(req: Request): string {
  const caller = callers.get(req);
  if (caller) return caller.name;
  throw new Error('authorOf() was called for a request that requireCaller() did not check. Run requireCaller() first.');
}
