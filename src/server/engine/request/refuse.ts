import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeStatus } from '../errors/http-error.ts';
import { sendProblem } from '../errors/problem.ts';
import { isApiPath } from './api-path.ts';
import { requestInfo } from './request-info.ts';
import { sendText } from './send-body.ts';

/**
 * Answers before any handler has run, without reading the body: problem+json under `/api`, else a
 * line of text. What is left of the body is read and dropped by Node, within `requestTimeout`, so
 * that a kept connection stays in step.
 */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  message = describeStatus(status),
): void {
  if (isApiPath(requestInfo(req).path)) sendProblem(res, { kind: 'public', status, message });
  else sendText(res, status, message);
}

/** Says what may be asked of an address (RFC 9110, section 9.3.7). */
export function sendAllowed(res: ServerResponse, allowed: string): void {
  res.statusCode = 204;
  res.setHeader('Allow', allowed);
  res.setHeader('Cache-Control', 'no-store');
  res.end();
}
