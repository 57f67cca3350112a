import { KiB } from '../../shared/units.ts';
import { HttpError } from '../request/http-error.ts';
import { type JsonRecord, parseReportRecord, unlessRefused } from './read-report.ts';

/**
 * Sentry's envelope: a line of JSON, then items. Each item is a line of JSON and a payload. The item's header
 * has the length of the payload. Without a length, the payload ends with its line.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export interface Envelope {
  readonly headers: JsonRecord;
  readonly items: readonly EnvelopeItem[];
}

interface EnvelopeItem {
  readonly type: string;
  readonly payload: Uint8Array;
}

/** The most items. An event can have attachments, and a replay is two items. */
const MAX_ENVELOPE_ITEMS = 100;

/** The longest line of JSON (bytes), then 413. */
const MAX_LINE_BYTES = 16 * KiB;

const LINE_FEED = 0x0a;

/**
 * Parses an envelope. Payloads are views into `bytes`, so a false length in a header allocates nothing. What follows an
 * item that is cut off, or has no readable header, is left out: the items before it are still whole.
 *
 * @throws HttpError 400 if it is not an envelope or has no whole item, 413 for a too long header or too many items
 */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  const line = readLine(bytes, 0);
  const headers = parseHeader(line, 'The header of the envelope');
  const items: EnvelopeItem[] = [];
  let position = skipLineFeeds(bytes, line.byteLength);
  while (position < bytes.length) {
    if (items.length === MAX_ENVELOPE_ITEMS)
      throw new HttpError(413, `The envelope has more than ${MAX_ENVELOPE_ITEMS} items.`);
    const found = readItem(bytes, position);
    if (!found) break;
    items.push(found.item);
    position = skipLineFeeds(bytes, found.end);
  }
  if (items.length === 0 && position < bytes.length) throw new HttpError(400, 'The envelope has no whole item.');
  return { headers, items };
}

/** @returns undefined if the item does not end where its header says */
function readItem(bytes: Uint8Array, start: number): { item: EnvelopeItem; end: number } | undefined {
  const line = readLine(bytes, start);
  const headers = unlessRefused(() => parseHeader(line, 'The header of an item'));
  if (typeof headers?.type !== 'string') return undefined;
  const from = Math.min(start + line.length + 1, bytes.length);
  const end = headers.length === undefined ? endOfLine(bytes, from) : from + toLength(headers.length);
  const isWhole = end === bytes.length || bytes[end] === LINE_FEED;
  return isWhole ? { item: { type: headers.type, payload: bytes.subarray(from, end) }, end } : undefined;
}

/** @returns NaN for anything but a length */
function toLength(length: unknown): number {
  return typeof length === 'number' && Number.isSafeInteger(length) && length >= 0 ? length : Number.NaN;
}

function parseHeader(line: Uint8Array, what: string): JsonRecord {
  if (line.length > MAX_LINE_BYTES) throw new HttpError(413, `${what} is longer than ${MAX_LINE_BYTES} bytes.`);
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
