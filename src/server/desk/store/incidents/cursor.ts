/** The position after the row with this key and id, where the next page of a list begins. */
export interface Cursor {
  /** The sort order of the list. A cursor is valid only in its own order. */
  readonly order: string;
  readonly key: number;
  readonly id: string;
  /** When the first page was read (ms since 1970). Set if rows can move while the pages are read. */
  readonly asOf?: number | undefined;
}

/** Returns the cursor as opaque text that is safe in a URL. */
export function writeCursor({ order, key, id, asOf }: Cursor): string {
  const parts = [order, key, id, ...(asOf === undefined ? [] : [asOf])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
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
  if (text.length > 200) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const [order, key, id, asOf = undefined]: unknown[] = value;
  if (typeof order !== 'string' || typeof id !== 'string' || !Number.isSafeInteger(key)) return undefined;
  if (asOf !== undefined && !Number.isSafeInteger(asOf)) return undefined;
  return { order, key: Number(key), id: id.replaceAll('\0', ''), ...(asOf !== undefined && { asOf: Number(asOf) }) };
}
