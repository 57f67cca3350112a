import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { MiB } from '../../shared/units.ts';
import { MAX_JSON_DEPTH, MAX_JSON_NODES, MAX_REPORT_BYTES } from '../limits.ts';
import { bodies } from '../request/body-reader.ts';
import { HttpError } from '../request/http-error.ts';
import { measureJson } from '../request/parse-body.ts';

// Messages of refusals are sent back, so they must not repeat any content of the report.

/** The largest decoded body (bytes). */
const MAX_DECODED_BYTES = 4 * MiB;

/** Without Brotli and zstd: Node's Brotli decoder has a vulnerability in every available version (CVE-2026-111497). */
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
};

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/**
 * Reads and decodes a report of any type, and passes it to `use`.
 *
 * @throws HttpError 413 if the decoded body is too large, 415 for another coding, 400 for a body that cannot be
 *   decoded
 * @throws the errors of `bodies.read()`
 */
export async function readReport<Value>(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  use: (report: Buffer) => Promise<Value>,
): Promise<Value> {
  const decode = requireDecoder(req.headers['content-encoding']);
  return bodies.read({ req, res, limit: MAX_REPORT_BYTES, decode }, use);
}

function requireDecoder(header: string | undefined): ((bytes: Buffer) => Promise<Buffer>) | undefined {
  const coding = header?.trim().toLowerCase() || 'identity';
  if (coding === 'identity') return undefined;
  const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decode) return (bytes) => decodeWith(decode, bytes);
  throw new HttpError(415, 'The Content-Encoding is not supported. Send gzip, deflate or none.', {
    'Accept-Encoding': 'gzip, deflate', // RFC 9110, section 15.5.16
  });
}

async function decodeWith(decode: Decode, bytes: Buffer): Promise<Buffer> {
  try {
    return await decode(bytes, { maxOutputLength: MAX_DECODED_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new HttpError(413, `The report is larger than ${MAX_DECODED_BYTES / MiB} MiB.`);
    throw new HttpError(400, 'The body does not match its Content-Encoding.');
  }
}

/** Keys that can reach a prototype when objects are merged. */
const REACHING_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Parses untrusted JSON, and leaves out keys that could reach a prototype.
 *
 * @param what names the text in error messages, for example `The event`
 * @throws HttpError 400 if it is not JSON in UTF-8, 413 for too many values
 */
export function parseReportJson(bytes: Uint8Array, what: string, maxNodes = MAX_JSON_NODES): unknown {
  const { depth, nodes } = measureJson(bytes);
  if (depth > MAX_JSON_DEPTH) throw new HttpError(400, `${what} is nested too deeply.`);
  if (nodes > maxNodes) throw new HttpError(413, `${what} has too many parts.`);
  const text = decodeStrictly(bytes, what);
  try {
    // A reviver takes five times as long as parsing, and few texts can have such a key, plain or escaped.
    return JSON.parse(text, /proto|constructor|\\u/.test(text) ? dropReachingKeys : undefined);
  } catch {
    throw new HttpError(400, `${what} is not valid JSON.`);
  }
}

/** @throws HttpError like `parseReportJson`, and 400 if the value is not an object */
export function parseReportRecord(bytes: Uint8Array, what: string, maxNodes?: number): JsonRecord {
  const value = parseReportJson(bytes, what, maxNodes);
  if (!isRecord(value)) throw new HttpError(400, `${what} is not a JSON object.`);
  return value;
}

/** Returns what `parse` returns, or undefined if it refuses a part of a report whose other parts are read. */
export function unlessRefused<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return undefined;
  }
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, else an empty object. */
export function toRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** Returns the value if it is an array, else an empty array. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Cuts text and removes control characters except tabs and line breaks. Undefined if it is empty or not text. */
export function toCleanText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.slice(0, maxLength).replace(/[^\P{Cc}\t\n]/gu, ' ') || undefined;
}

/** Like `toCleanText`, on one line. */
export function toLine(value: unknown, maxLength: number): string | undefined {
  return toCleanText(value, maxLength)?.replace(/\s+/g, ' ').trim() || undefined;
}

/** Returns a line or column number, or 0 if the value cannot be one. */
export function toPosition(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function decodeStrictly(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new HttpError(400, `${what} is not in UTF-8.`);
  }
}

function dropReachingKeys(key: string, value: unknown): unknown {
  return REACHING_KEYS.has(key) ? undefined : value;
}
