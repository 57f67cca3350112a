import type { Response } from 'express';
import type { ZodError } from 'zod';
import { PROBLEM_TYPE } from '#engine/server';
import { toFieldErrors } from '../field-errors.ts';

/** 422, with what is wrong by field; the empty name is the body as a whole. */
export function sendInvalid(response: Response, error: ZodError): void {
  response
    .status(422)
    .type(PROBLEM_TYPE)
    .json({
      type: 'about:blank',
      title: 'Unprocessable Content',
      status: 422,
      detail: 'What was sent is not valid.',
      errors: toFieldErrors(error),
    });
}
