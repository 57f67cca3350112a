/** The position after a row, where the next page of a list begins. */
export interface Cursor {
  /** The sort key of the row, and its id among rows with the same one. */
  readonly value: number;
  readonly id: string;
}

const FORM = /^(\w+)\.(\d{1,16})\.(.+)$/;
const MAX_CURSOR_LENGTH = 200;

/** Returns the cursor as text for a URL. @param order the sort order of the list */
export function writeCursor(order: string, { value, id }: Cursor): string {
  return `${order}.${value}.${id}`;
}

/** @returns undefined if it is not a cursor of this order */
export function parseCursor(text: string, order: string): Cursor | undefined {
  const [, own, value, id = ''] = (text.length <= MAX_CURSOR_LENGTH && FORM.exec(text)) || [];
  if (own !== order || !Number.isSafeInteger(Number(value))) return undefined;
  return { value: Number(value), id: id.replaceAll('\0', '').toWellFormed() };
}
