import type { Request, RequestHandler } from 'express';
import { type Auth, HttpError, requestInfo } from '#engine/server';
import { type CheckToken, DOCUMENT_PATH, isRead, type Operator, REFERENCE_PATH, readBearer } from '#engine/tracker';
import { Second } from '../../../shared/units.ts';

/** The holder of a token. The name is recorded with changes. */
export interface DeskCaller extends Operator {
  readonly id: string;
}

/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="desk"';

/**
 * Callers send a token in `Authorization`. Cookies are ignored, so that other sites cannot use a browser's session. Each
 * request is checked only once, so that a wrong token counts once.
 */
export function createCallerAuth(checkToken: CheckToken): Auth<DeskCaller> {
  const callers = new WeakMap<Request, Promise<DeskCaller>>();
  return {
    name: 'token',
    scheme: { type: 'http', scheme: 'bearer' },
    identify(request) {
      const caller = callers.get(request) ?? readCaller(request, checkToken);
      callers.set(request, caller);
      return caller;
    },
  };
}

/** What describes the API contains no data. */
const OPEN_PATHS: readonly string[] = [DOCUMENT_PATH, REFERENCE_PATH];

/** Requires a token for unknown paths and methods too, but not for the document and the reference. */
export function requireCaller({ identify }: Auth): RequestHandler {
  return async function requireCaller(req, _res, next) {
    if (!OPEN_PATHS.includes(req.path)) await identify(req);
    next();
  };
}

async function readCaller(req: Request, checkToken: CheckToken): Promise<DeskCaller> {
  const token = readBearer(req);
  if (token === undefined) {
    throw new HttpError(401, 'A token is required. Send the header "Authorization: Bearer <token>".', {
      'WWW-Authenticate': CHALLENGE,
    });
  }
  const checked = checkToken(token, requestInfo(req).address);
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
  if (role !== 'operator' && !isRead(req) && req.method !== 'OPTIONS') {
    throw new HttpError(403, 'This token is read-only. Use a token of OPERATOR_TOKEN.', {
      'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope"`,
    });
  }
  return { id: name, name, role };
}
