/** Where a page of a list goes on: behind the row with this key and id. */
export interface Cursor {
  /** What the list is sorted by: a cursor of another order leads nowhere. */
  readonly order: string;
  readonly key: number;
  readonly id: string;
  /** When its first page was read (ms since 1970), if rows can move while the pages are read. */
  readonly asOf?: number | undefined;
}

/** Opaque to whoever holds it, and fit for a URL. */
export function writeCursor({ order, key, id, asOf }: Cursor): string {
  const parts = [order, key, id, ...(asOf === undefined ? [] : [asOf])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Whether a list in this order can go on there: what came in a URL must be asked first. */
export function isCursor(text: string, order: string): boolean {
  return parseCursor(text)?.order === order;
}

/** @throws RangeError where `isCursor` says no */
export function readCursor(text: string, order: string): Cursor {
  const cursor = parseCursor(text);
  if (cursor?.order === order) return cursor;
  throw new RangeError('The cursor is none of this list, or of another order. Leave it out to begin at the top.');
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
