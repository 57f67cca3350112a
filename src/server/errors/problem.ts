import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import * as z from 'zod';
import { PROBLEM_TYPE, type Problem } from '../../shared/api/problem.ts';
import type { PageError } from '../../shared/wire/payload.ts';
import { describeStatus } from '../request/http-error.ts';
import { isApiPath } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendBody, sendText } from '../request/send-body.ts';
import { sendLastResort } from './last-resort.ts';

/** For responses that are not pages: they load nothing and cannot be framed. */
export const API_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** The body that `sendProblem()` writes. */
export const ProblemBody = z
  .strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    instance: z.string().optional().describe('The URL that shows this failure.'),
    digest: z.string().optional().describe('The digest, which names this kind of failure.'),
    errors: z.record(z.string(), z.string()).optional().describe('Errors in the request, by field.'),
  })
  .meta({ id: 'Problem', description: 'What went wrong (RFC 9457).' }) satisfies z.core.$ZodType<Problem>;

/** @param instance the URL that shows the failure */
export function presentProblem(error: PageError, instance?: string): Problem {
  return {
    type: 'about:blank',
    title: STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.kind === 'failure' ? undefined : (error.message ?? describeForPrograms(error.status)),
    instance,
    digest: error.digest?.split('-')[0],
  };
}

/** A program does not sign in, so the title of 401 says enough. */
function describeForPrograms(status: number): string | undefined {
  return status === 401 ? undefined : describeStatus(status);
}

/** @param more the URL that shows the failure, and errors in the request by field */
export function sendProblem(
  res: ServerResponse,
  error: PageError,
  { instance, errors }: Pick<Problem, 'instance' | 'errors'> = {},
): void {
  const body = JSON.stringify({ ...presentProblem(error, instance), errors });
  sendBody(res, error.status, { type: PROBLEM_TYPE, body });
}

/**
 * Answers before any handler has run, without reading the body: problem+json under `/api`, a page for browsers, else a
 * line of text. The body is dropped after the response (`connection/unread-bodies.ts`).
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
  else if (/\btext\/html\b/i.test(req.headers.accept ?? ''))
    sendLastResort(req, res, { kind: 'public', status, message });
  else sendText(res, status, message);
}

/** Answers which methods a URL accepts (RFC 9110, section 9.3.7). */
export function sendAllowed(res: ServerResponse, allowed: string): void {
  res.statusCode = 204;
  res.setHeader('Allow', allowed);
  res.setHeader('Cache-Control', 'no-store');
  res.end();
}
