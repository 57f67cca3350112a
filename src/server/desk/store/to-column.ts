/** The longest text in a column (characters): what is longer stands in the whole occurrence. */
const MAX_LENGTH = 500;

/** PostgreSQL refuses NUL in text, and a lone half of a pair is no UTF-8. @param maxLength characters */
export function toColumn(text: unknown, maxLength = MAX_LENGTH): string {
  return String(text).slice(0, maxLength).replaceAll('\0', '\uFFFD').toWellFormed();
}

export function toOptionalColumn(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text);
}
