import type { ZodError } from 'zod';

/** Returns the first error message of each field, for `invalid()` and `Field`. */
export function toFieldErrors(error: ZodError): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of error.issues) {
    errors[path.join('.')] ??= message;
  }
  return errors;
}
