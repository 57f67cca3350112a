/** The longest text in a column (characters): what is longer stands in the whole occurrence. */
const MAX_LENGTH = 500;

/** PostgreSQL refuses NUL in text, and a lone half of a pair is no UTF-8. */
export function toColumn(text: unknown): string {
  return String(text).slice(0, MAX_LENGTH).replaceAll('\0', '\uFFFD').toWellFormed();
}
