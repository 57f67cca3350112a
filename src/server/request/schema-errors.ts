import type { SchemaIssue } from '../../shared/api/operation.ts';

/** Messages by the path of a field (`status.until`). The empty name is for the whole. */
export type FieldErrors = Readonly<Record<string, string>>;

/** Returns the first message for each field. */
export function toErrors(issues: readonly SchemaIssue[]): FieldErrors {
  const errors = new Map<string, string>(); // names are the sender's: `constructor` is possible
  for (const { path = [], message } of issues) {
    const name = path.map(toName).join('.');
    if (!errors.has(name)) errors.set(name, message);
  }
  return Object.fromEntries(errors);
}

export function toName(key: NonNullable<SchemaIssue['path']>[number]): string {
  return String(typeof key === 'object' ? key.key : key);
}
