import type { IncomingMessage, ServerResponse } from 'node:http';
import { Second } from '../../../shared/units.ts';
import { requestInfo } from '../../engine/request/request-info.ts';
import { SESSION_TIME } from '../limits.ts';

const PLAIN_NAME = 'desk';
/** A name that, over TLS, neither another host of the domain nor a page without TLS can set. */
const SECURE_NAME = '__Host-desk';

export const SESSION_COOKIES = [PLAIN_NAME, SECURE_NAME];

/** Returns the name of the session cookie on the request's origin. */
export function toCookieName(req: IncomingMessage): string {
  return requestInfo(req).secure ? SECURE_NAME : PLAIN_NAME;
}

export function setSessionCookie(req: IncomingMessage, res: ServerResponse, session: string): void {
  addCookie(req, res, session, SESSION_TIME / Second);
}

export function clearSessionCookie(req: IncomingMessage, res: ServerResponse): void {
  addCookie(req, res, '', 0);
}

function addCookie(req: IncomingMessage, res: ServerResponse, value: string, seconds: number): void {
  const secure = requestInfo(req).secure ? '; Secure' : '';
  res.appendHeader(
    'Set-Cookie',
    `${toCookieName(req)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`,
  );
}
