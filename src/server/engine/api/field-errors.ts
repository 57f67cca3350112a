import type { ZodError } from 'zod';

/** What is wrong, by the path of the field (`status.until`); under the empty name what is wrong with the whole. */
export type FieldErrors = Readonly<Record<string, string>>;

/** The first thing that is wrong with each. */
export function toFieldErrors({ issues }: ZodError): FieldErrors {
  // Names come from outside: `constructor` is one like any other.
  const errors = new Map<string, string>();
  const add = (path: readonly PropertyKey[], words: string) => {
    const name = path.join('.');
    if (!errors.has(name)) errors.set(name, words);
  };
  for (const issue of issues) {
    // What is not known has no path of its own.
    const names = issue.code === 'unrecognized_keys' ? issue.keys : [];
    for (const name of names) add([...issue.path, name], 'This is not known here.');
    if (names.length === 0) add(issue.path, issue.message);
  }
  return Object.fromEntries(errors);
}
