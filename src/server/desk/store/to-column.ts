/** The longest text in a column (characters). Full records have the complete text. */
const MAX_LENGTH = 500;

/**
 * Shortens a text for a column and makes it valid there: PostgreSQL refuses NUL, and a lone surrogate is
 * not valid UTF-8.
 *
 * @param maxLength characters
 */
export function toColumn(text: unknown, maxLength = MAX_LENGTH): string {
  return String(text).slice(0, maxLength).replaceAll('\0', '\uFFFD').toWellFormed();
}

export function toOptionalColumn(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text);
}
