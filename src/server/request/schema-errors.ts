import type { SchemaIssue } from '../../shared/api/operation.ts';

/** Messages by the path of a field (`status.until`). The empty name is for the whole. */
export type FieldErrors = Readonly<Record<string, string>>;

/** A sender can name thousands of unknown fields (count). */
const MAX_ERRORS = 100;

/** Returns the first message for each field, up to a limit. */
export function toErrors(issues: readonly SchemaIssue[]): FieldErrors {
  const errors = new Map<string, string>(); // names are the sender's: `constructor` is possible
  for (const { path = [], message } of issues) {
    const name = path.map(toName).join('.');
    if (errors.size === MAX_ERRORS) break;
    if (!errors.has(name)) errors.set(name, message);
  }
  return Object.fromEntries(errors);
}

export function toName(key: NonNullable<SchemaIssue['path']>[number]): string {
  return String(typeof key === 'object' ? key.key : key);
}
