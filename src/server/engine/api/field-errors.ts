import type { ZodError } from 'zod';

/** Messages by the path of the field (`status.until`). The empty name holds the error of the input as a whole. */
export type FieldErrors = Readonly<Record<string, string>>;

/** Keeps the first error of each field. */
export function toFieldErrors({ issues }: ZodError): FieldErrors {
  // A Map, because names come from the caller: `constructor` is a name too.
  const errors = new Map<string, string>();
  const add = (path: readonly PropertyKey[], words: string) => {
    const name = path.join('.');
    if (!errors.has(name)) errors.set(name, words);
  };
  for (const issue of issues) {
    // The path of an unknown key is the path of its parent.
    const names = issue.code === 'unrecognized_keys' ? issue.keys : [];
    for (const name of names) add([...issue.path, name], 'Unknown field.');
    if (names.length === 0) add(issue.path, issue.message);
  }
  return Object.fromEntries(errors);
}
