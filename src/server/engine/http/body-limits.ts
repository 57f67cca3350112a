import express, { type Request, type RequestHandler } from 'express';
import { MAX_API_BODY_BYTES, MAX_FORM_FIELDS, MAX_JSON_DEPTH } from '../../limits.ts';
import { badRequest, unsupportedMediaType } from '../errors/http-error.ts';

export interface BodyLimits {
  /** Bytes; 413 beyond. */
  readonly limit?: number;
}

/**
 * Parses a JSON body; anything else is 415. Compressed bodies are refused: Node's Brotli decoder has a
 * hole in every version that can be had (CVE-2026-111497), and the others are bombs. A body that was
 * parsed before is left as it is.
 */
export function jsonBody({ limit = MAX_API_BODY_BYTES }: BodyLimits = {}): RequestHandler[] {
  const parse = express.json({
    inflate: false,
    strict: true,
    limit,
    type: () => true,
    verify: (_req, _res, bytes) => requireSoundJson(bytes),
    // An own key `__proto__` becomes a prototype in whatever merges it.
    reviver: (key: string, value: unknown) => (key === '__proto__' ? undefined : value),
  });
  return [requireType('application/json'), parse];
}

/** Parses `application/x-www-form-urlencoded` into flat fields; anything else is 415. */
export function formBody({ limit = MAX_API_BODY_BYTES }: BodyLimits = {}): RequestHandler[] {
  const parse = express.urlencoded({
    extended: false,
    inflate: false,
    limit,
    parameterLimit: MAX_FORM_FIELDS,
    type: () => true,
    verify: (_req, _res, bytes) => void decodeUtf8(bytes),
  });
  return [requireType('application/x-www-form-urlencoded'), parse];
}

function requireType(type: string): RequestHandler {
  return function requireType(req, _res, next) {
    next(req.body === undefined ? refuseBody(req, type) : undefined);
  };
}

function refuseBody(req: Request, type: string): Error | undefined {
  const [given = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  const isText = parameters.every(
    (parameter) => !/^\s*charset=/.test(parameter) || /^\s*charset="?utf-8"?\s*$/.test(parameter),
  );
  if (given.trim() !== type || !isText) return unsupportedMediaType(`Send ${type} in UTF-8.`);
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') return unsupportedMediaType('Send the body without Content-Encoding.');
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  return isEmpty ? badRequest('The request has no body.') : undefined;
}

function requireSoundJson(bytes: Buffer): void {
  const text = decodeUtf8(bytes);
  if (text.trim() === '') throw badRequest('The request has no body.');
  if (depthOf(bytes) > MAX_JSON_DEPTH) throw badRequest('The JSON is nested too deeply.');
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('The body is not UTF-8.');
  }
}

/** The deepest nesting, read without recursion and without regard to whether the rest is JSON. */
function depthOf(json: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (inText) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) {
      inText = true;
    } else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      depth -= 1;
    }
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
