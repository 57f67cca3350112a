import { KiB } from '../../../shared/units.ts';
import { ReportError } from './report-error.ts';
import { type JsonRecord, parseReportRecord } from './report-json.ts';

/**
 * Sentry's envelope: a line of JSON, then items. Each item is a line of JSON and a payload. The item's header
 * has the length of the payload. Without a length, the payload ends with its line.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export interface Envelope {
  readonly headers: JsonRecord;
  readonly items: readonly EnvelopeItem[];
}

export interface EnvelopeItem {
  readonly type: string;
  readonly headers: JsonRecord;
  /** The line of the header as received, for forwarding it unchanged. */
  readonly headerBytes: Uint8Array;
  readonly payload: Uint8Array;
}

/** The largest header (bytes). It contains the trace's baggage, which browsers limit to this size. */
const MAX_HEADER_BYTES = 16 * KiB;
/** The most items. An event can have attachments, and a replay is two items. */
const MAX_ITEMS = 100;

const LINE_FEED = 0x0a;

/**
 * Parses an envelope. Payloads are views into `bytes`, so a false length in a header allocates nothing.
 *
 * @throws ReportError 400 if it is not an envelope, 413 for too long headers or too many items
 */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  const line = readLine(bytes, 0);
  const headers = parseHeader(line, 'The header of the envelope');
  const items: EnvelopeItem[] = [];
  let position = skipLineFeeds(bytes, line.byteLength);
  while (position < bytes.length) {
    if (items.length === MAX_ITEMS) throw new ReportError(413, `The envelope has more than ${MAX_ITEMS} items.`);
    const { item, end } = readItem(bytes, position);
    items.push(item);
    position = skipLineFeeds(bytes, end);
  }
  return { headers, items };
}

/** Serializes an envelope like SDKs do, without a line feed at the end. */
export function serializeEnvelope({ headers, items }: Envelope): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from(JSON.stringify(headers), 'utf8')];
  for (const { headerBytes, payload } of items) parts.push(NEW_LINE, headerBytes, NEW_LINE, payload);
  return Buffer.concat(parts);
}

/** Creates an item with a JSON payload and its length. */
export function createItem(headers: JsonRecord & { readonly type: string }, value: unknown): EnvelopeItem {
  const payload = Buffer.from(JSON.stringify(value), 'utf8');
  const written = { ...headers, length: payload.length };
  return { type: headers.type, headers: written, headerBytes: Buffer.from(JSON.stringify(written), 'utf8'), payload };
}

const NEW_LINE = Uint8Array.of(LINE_FEED);

function readItem(bytes: Uint8Array, start: number): { item: EnvelopeItem; end: number } {
  const headerBytes = readLine(bytes, start);
  const headers = parseHeader(headerBytes, 'The header of an item');
  const { type } = headers;
  if (typeof type !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(type)) {
    throw new ReportError(400, 'The header of an item has no valid type.');
  }
  const from = Math.min(start + headerBytes.length + 1, bytes.length);
  const end = headers.length === undefined ? endOfLine(bytes, from) : from + toLength(headers.length, bytes, from);
  if (end < bytes.length && bytes[end] !== LINE_FEED) {
    throw new ReportError(400, 'An item is longer than the length in its header.');
  }
  return { item: { type, headers, headerBytes, payload: bytes.subarray(from, end) }, end };
}

function toLength(length: unknown, bytes: Uint8Array, from: number): number {
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) {
    throw new ReportError(400, 'The length of an item must be a whole number.');
  }
  if (length > bytes.length - from) throw new ReportError(400, 'An item is shorter than the length in its header.');
  return length;
}

function parseHeader(line: Uint8Array, what: string): JsonRecord {
  if (line.length > MAX_HEADER_BYTES) throw new ReportError(413, `${what} is longer than ${MAX_HEADER_BYTES} bytes.`);
  return parseReportRecord(line, what);
}

function readLine(bytes: Uint8Array, start: number): Uint8Array {
  return bytes.subarray(start, endOfLine(bytes, start));
}

function endOfLine(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(LINE_FEED, start);
  return end < 0 ? bytes.length : end;
}

function skipLineFeeds(bytes: Uint8Array, start: number): number {
  let position = start;
  while (bytes[position] === LINE_FEED) position += 1;
  return position;
}
