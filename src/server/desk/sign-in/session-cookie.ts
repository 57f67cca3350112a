import type { IncomingMessage, ServerResponse } from 'node:http';
import { Second } from '../../../shared/units.ts';
import { requestInfo } from '../../engine/http/request-info.ts';
import { SESSION_TIME } from '../limits.ts';

/** Over TLS a name that neither another host of the domain nor a page without TLS can set. */
function toName(req: IncomingMessage): string {
  return requestInfo(req).secure ? '__Host-desk' : 'desk';
}

/** What the cookie says; the first where several have its name. */
export function readSessionCookie(req: IncomingMessage): string | undefined {
  const start = `${toName(req)}=`;
  const pair = (req.headers.cookie ?? '').split(';').find((part) => part.trim().startsWith(start));
  return pair?.trim().slice(start.length);
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
    `${toName(req)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`,
  );
}
