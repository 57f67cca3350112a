import type { IncomingMessage, ServerResponse } from 'node:http';
import { isApiPath } from '../request/api-path.ts';
import { describeStatus } from '../request/http-error.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendText } from '../request/send-body.ts';
import { sendProblem } from './problem.ts';

/**
 * Answers before any handler has run, without reading the body: problem+json under `/api`, else a line of text. The body
 * is dropped after the response (`connection/unread-bodies.ts`).
 */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  message = describeStatus(status),
): void {
  // The normalizer refuses before it has set the path.
  if (isApiPath(requestInfo(req).path) || req.url?.startsWith('/api/'))
    sendProblem(res, { kind: 'public', status, message });
  else sendText(res, status, message);
}

/** Answers which methods a URL accepts (RFC 9110, section 9.3.7). */
export function sendAllowed(res: ServerResponse, allowed: string): void {
  res.statusCode = 204;
  res.setHeader('Allow', allowed);
  res.setHeader('Cache-Control', 'no-store');
  res.end();
}
