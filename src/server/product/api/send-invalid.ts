import type { Response } from 'express';
import type { ZodError } from 'zod';
import { PROBLEM_TYPE } from '#engine/server';
import { toFieldErrors } from '../field-errors.ts';

/** Sends 422 with an error message for each field. The empty name stands for the whole body. */
export function sendInvalid(response: Response, error: ZodError): void {
  response
    .status(422)
    .type(PROBLEM_TYPE)
    .json({
      type: 'about:blank',
      title: 'Unprocessable Content',
      status: 422,
      detail: 'Some fields are not valid.',
      errors: toFieldErrors(error),
    });
}
