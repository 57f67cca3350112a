import { MAX_JSON_DEPTH, MAX_JSON_NODES } from '../../limits.ts';
import { badRequest, HttpError } from '../errors/http-error.ts';
import { decodeUtf8 } from '../request/decode-utf8.ts';
import { measureJson } from './json-shape.ts';

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
  if (text.trim() === '') throw badRequest('The request has no body.');
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
