import type { ZodError } from 'zod';

/** The first thing that is wrong with each field, as `invalid()` and `Field` have it. */
export function toFieldErrors(error: ZodError): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of error.issues) {
    errors[path.join('.')] ??= message;
  }
  return errors;
}
