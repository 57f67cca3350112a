import type { ZodError } from 'zod';

/** What is wrong, by the path of the field (`status.until`); under the empty name what is wrong with the whole. */
export type FieldErrors = Readonly<Record<string, string>>;

/** The first thing that is wrong with each. */
export function toFieldErrors({ issues }: ZodError): FieldErrors {
  const errors: Record<string, string> = {};
  for (const issue of issues) {
    // What is not known has no path of its own.
    const names = issue.code === 'unrecognized_keys' ? issue.keys : [];
    for (const name of names) errors[[...issue.path, name].join('.')] ??= 'This is not known here.';
    if (names.length === 0) errors[issue.path.join('.')] ??= issue.message;
  }
  return errors;
}
