import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Problem } from '../../../shared/engine/api/operation.ts';
import type { PageError } from '../../../shared/engine/wire/payload.ts';
import { sendBody } from '../request/send-body.ts';
import { describeStatus } from './http-error.ts';

/** The media type of errors under `/api` (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

export function presentProblem(error: PageError): Problem {
  const [digest, occurrence] = error.digest?.split('-') ?? [];
  return {
    type: 'about:blank',
    title: STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.kind === 'failure' ? undefined : (error.message ?? describeStatus(error.status)),
    instance: digest && occurrence ? `/desk/${digest}/${occurrence}` : undefined,
    digest,
  };
}

/** @param errors errors in the request, by field */
export function sendProblem(res: ServerResponse, error: PageError, errors?: Problem['errors']): void {
  const body = JSON.stringify({ ...presentProblem(error), errors });
  sendBody(res, error.status, { type: PROBLEM_TYPE, body });
}
