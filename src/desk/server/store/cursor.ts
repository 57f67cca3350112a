/** The position after a row, where the next page of a list begins. */
export interface Cursor {
  /** The sort order of the list. A cursor is valid only in its own order. */
  readonly order: string;
  /** The sort key of the row, and its id among rows with the same one. */
  readonly value: number;
  readonly id: string;
}

const FORM = /^(\w+)\.(\d{1,16})\.(.+)$/;
const MAX_CURSOR_LENGTH = 200;

/** Returns the cursor as text for a URL. */
export function writeCursor({ order, value, id }: Cursor): string {
  return `${order}.${value}.${id}`;
}

/** Reports whether a text is a valid cursor of this order. Check a cursor from a URL before you read it. */
export function isCursor(text: string, order: string): boolean {
  return parseCursor(text)?.order === order;
}

/** @throws RangeError if `isCursor` returns false */
export function readCursor(text: string, order: string): Cursor {
  const cursor = parseCursor(text);
  if (cursor?.order === order) return cursor;
  throw new RangeError('The cursor is not valid for this list and order. Leave it out to begin at the top.');
}

function parseCursor(text: string): Cursor | undefined {
  const [, order = '', value, id = ''] = (text.length <= MAX_CURSOR_LENGTH && FORM.exec(text)) || [];
  if (value === undefined || !Number.isSafeInteger(Number(value))) return undefined;
  return { order, value: Number(value), id: id.replaceAll('\0', '').toWellFormed() };
}
