import { measureJson } from '../../../engine/api/json-shape.ts';
import { MAX_JSON_DEPTH, MAX_JSON_NODES } from '../../../limits.ts';
import { ReportError } from './report-error.ts';

/** Keys that reach a prototype in whatever merges them. */
const REACHING_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Parses what a stranger sent. Keys that could reach a prototype are left out.
 *
 * @param what names the text in the refusal: `The event`
 * @throws ReportError 400 for what is no JSON in UTF-8, 413 for too many parts
 */
export function parseReportJson(bytes: Uint8Array, what: string): unknown {
  const { depth, nodes } = measureJson(bytes);
  if (depth > MAX_JSON_DEPTH) throw new ReportError(400, `${what} is nested too deeply.`);
  if (nodes > MAX_JSON_NODES) throw new ReportError(413, `${what} has too many parts.`);
  const text = decodeStrictly(bytes, what);
  try {
    // A reviver costs five times the parsing, and nearly no text has such a key, spelled out or escaped.
    return JSON.parse(text, /proto|constructor|\\u/.test(text) ? dropReachingKeys : undefined);
  } catch {
    throw new ReportError(400, `${what} is no JSON.`);
  }
}

/** @throws ReportError as `parseReportJson`, and 400 where it is no object */
export function parseReportRecord(bytes: Uint8Array, what: string): JsonRecord {
  const value = parseReportJson(bytes, what);
  if (!isRecord(value)) throw new ReportError(400, `${what} is no JSON object.`);
  return value;
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value where it is an object, else an empty one. */
export function toRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** The members where it is an array, else none. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text without control characters (but tabs and line breaks), cut; undefined for what is no text, or is empty. */
export function toText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.slice(0, maxLength).replace(/[^\P{Cc}\t\n]/gu, ' ') || undefined;
}

/** The same on one line. */
export function toLine(value: unknown, maxLength: number): string | undefined {
  return toText(value, maxLength)?.replace(/\s+/g, ' ').trim() || undefined;
}

/** A position in a file: 0 where there is none that could be. */
export function toPosition(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function decodeStrictly(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ReportError(400, `${what} is not in UTF-8.`);
  }
}

function dropReachingKeys(key: string, value: unknown): unknown {
  return REACHING_KEYS.has(key) ? undefined : value;
}
