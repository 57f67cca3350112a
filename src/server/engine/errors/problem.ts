import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { PageError } from '../../../shared/engine/wire/payload.ts';
import { sendBody } from '../request/send-body.ts';
import { describeStatus } from './http-error.ts';

/** RFC 9457. With the `type` `about:blank`, `title` is the phrase of the status. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  /** The page of this occurrence on the desk. */
  readonly instance?: string;
  /** The kind of failure: the first half of its address. */
  readonly digest?: string;
  /** Errors in the request, by field. */
  readonly errors?: Readonly<Record<string, string>>;
}

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
