import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import type { EngineText } from '../../shared/rendering/language.ts';
import { MAX_FORM_FIELDS, MAX_JSON_DEPTH, MAX_JSON_NODES } from '../limits.ts';
import { badRequest, HttpError } from './http-error.ts';
import { decodePercent } from './paths.ts';

/**
 * Parses `Content-Type` by the rules of browsers, which `FormData` follows too: two readings of a boundary or a charset
 * would let a sender pass the checks with one of them. Undefined if it is missing or malformed.
 */
export function readContentType({ headers }: Pick<IncomingMessage, 'headers'>): MIMEType | undefined {
  try {
    return new MIMEType(headers['content-type'] ?? '');
  } catch {
    return undefined;
  }
}

/** True if the type says UTF-8 or nothing. */
export function isInUtf8({ params }: MIMEType): boolean {
  return (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8';
}

/** @throws HttpError 400 for invalid UTF-8, which `toString('utf8')` would replace by other characters */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('The body is not UTF-8.');
  }
}

export const NO_BODY = 'The request has no body.';
export const TOO_MANY_FIELDS: EngineText = `The form has more than ${MAX_FORM_FIELDS} fields.`;

/** No keyboard can type it, and PostgreSQL does not store it. */
const NO_TEXT = 'The form has the character U+0000, which is not part of a text.';

/**
 * Decodes the text of `application/x-www-form-urlencoded`, except for its percent-encodings, which must be UTF-8 too. A
 * `%` that encodes nothing is kept, as in the browsers' own parser.
 *
 * @throws HttpError 400, or 413 for too many fields: to parse half a million of them takes seconds
 */
export function decodeFormText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text.split('&', MAX_FORM_FIELDS + 1).length > MAX_FORM_FIELDS) throw new HttpError(413, TOO_MANY_FIELDS);
  if (text.includes('%00') || text.includes('\0')) throw badRequest(NO_TEXT);
  for (const [encoded] of text.matchAll(/(?:%[0-9a-f]{2})+/gi)) {
    if (/%[89a-f]/i.test(encoded) && decodePercent(encoded) === undefined)
      throw badRequest('The form has a percent-encoding that is not UTF-8.');
  }
  return text;
}

/**
 * Lists the values of each name. `getAll()` for each of them looks at all fields: 40 ms for the longest search.
 */
export function groupFields<Value>(fields: Iterable<readonly [name: string, Value]>): ReadonlyMap<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const [name, value] of fields) {
    const values = groups.get(name);
    if (values) values.push(value);
    else groups.set(name, [value]);
  }
  return groups;
}

/**
 * Parses untrusted JSON, so that the result says exactly what was sent. Numbers that JavaScript cannot represent,
 * unpaired surrogates and duplicate keys are refused, because other parsers on the way can read them differently
 * (RFC 7493).
 *
 * @param nodes maximum number of keys, values and members
 * @throws HttpError 400, or 413 for too many nodes
 */
export function parseJson(bytes: Uint8Array, nodes = MAX_JSON_NODES): unknown {
  const text = decodeUtf8(bytes);
  if (text.trim() === '') throw badRequest(NO_BODY);
  const shape = measureJson(bytes);
  if (shape.depth > MAX_JSON_DEPTH) throw badRequest('The JSON is nested too deeply.');
  if (shape.nodes > nodes) throw new HttpError(413, `The JSON has more than ${nodes} parts.`);
  // A reviver makes parsing ten times slower.
  const value = parse(text, shape.hasOddNumber || ESCAPED_SURROGATE.test(text) ? requireKept : undefined);
  if (!isRecord(value)) throw badRequest('The JSON is neither an object nor an array.');
  if (clean(value) < shape.members) throw badRequest('The JSON has an object with a duplicate key.');
  return value;
}

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/** TypeScript's types do not have the third argument yet. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

function parse(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw badRequest('The body is not valid JSON.');
  }
}

const requireKept: Reviver = (key, value, context) => {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
    throw badRequest('The JSON has half of a character: a surrogate without its other one.');
  }
  if (typeof value === 'number' && !isKept(value, context?.source)) {
    throw badRequest('The JSON has a number that is too large or too small to be kept as it is. Send it as text.');
  }
  return value;
};

/** Fractions are rounded, as in every parser. A whole number must be exact: it can be an amount or an id. */
function isKept(value: number, source = ''): boolean {
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && (value !== 0 || !/^-?[0.]*[1-9]/.test(source));
}

/**
 * Removes keys that would set a prototype when the value is merged.
 *
 * @returns the number of members; of two with the same key, `JSON.parse` keeps the last
 */
function clean(value: Record<string, unknown>): number {
  const keys = Object.keys(value);
  let members = Array.isArray(value) ? 0 : keys.length;
  for (const key of keys) {
    const inner = value[key];
    if (isRecord(inner)) members += clean(inner);
  }
  Reflect.deleteProperty(value, '__proto__'); // only an own property
  return members;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Measures the shape of a JSON text without recursion, and without checking that it is valid. */
export function measureJson(json: Uint8Array) {
  let depth = 0;
  let deepest = 0;
  let nodes = 1;
  let members = 0;
  let digits = 0;
  let hasOddNumber = false;
  let inText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inText = false;
      continue;
    }
    if (byte >= ZERO && byte <= NINE) {
      digits += 1;
      if (digits > MOST_SAFE_DIGITS) hasOddNumber = true;
      continue;
    }
    if (digits > 0 && (byte === LOWER_E || byte === UPPER_E)) hasOddNumber = true;
    digits = 0;
    if (byte === QUOTE) {
      inText = true;
    } else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      depth += 1;
      nodes += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      depth -= 1;
    } else if (byte === COMMA) {
      nodes += 1;
    } else if (byte === COLON) {
      nodes += 1;
      members += 1;
    }
  }
  return {
    /** The deepest nesting of objects and arrays. */
    depth: deepest,
    /** Upper bound of the number of keys, values and members. */
    nodes,
    /** Number of members of all objects together, counting duplicate keys. */
    members,
    /** True if a number has so many digits, or an exponent, that its value can differ from its text. */
    hasOddNumber,
  };
}

/** Whole numbers with up to this many digits are represented exactly. */
const MOST_SAFE_DIGITS = 15;

const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
