import express, { type Request, type RequestHandler } from 'express';
import { MAX_API_BODY_BYTES, MAX_FORM_FIELDS, MAX_JSON_DEPTH } from '../../limits.ts';
import { badRequest, unsupportedMediaType } from '../errors/http-error.ts';
import { measureJson } from './json-shape.ts';

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
  if (measureJson(bytes).depth > MAX_JSON_DEPTH) throw badRequest('The JSON is nested too deeply.');
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('The body is not UTF-8.');
  }
}
