import express, { type Request, type RequestHandler } from 'express';
import { MAX_API_BODY_BYTES, MAX_FORM_FIELDS, MAX_JSON_NODES } from '../../limits.ts';
import { badRequest, unsupportedMediaType } from '../errors/http-error.ts';
import { decodeFormText } from '../request/decode-utf8.ts';
import { parseJson } from './parse-json.ts';

export interface BodyLimits {
  /** Bytes; 413 beyond. */
  readonly limit?: number;
}

export interface JsonLimits extends BodyLimits {
  /** Keys, values and members; 413 beyond. */
  readonly nodes?: number;
}

/**
 * Parses a JSON body. Any other type is 415. Compressed bodies are refused: every available version of Node's
 * Brotli decoder has a vulnerability (CVE-2026-111497), and the other codings allow decompression bombs. A body
 * that is already parsed is left as it is.
 */
export function jsonBody({ limit = MAX_API_BODY_BYTES, nodes = MAX_JSON_NODES }: JsonLimits = {}): RequestHandler[] {
  const read = express.raw({ inflate: false, limit, type: () => true });
  return [
    requireType('application/json'),
    read,
    function parse(req, _res, next) {
      if (Buffer.isBuffer(req.body)) req.body = parseJson(req.body, nodes);
      next();
    },
  ];
}

/** Parses `application/x-www-form-urlencoded` into flat fields. Any other type is 415. */
export function formBody({ limit = MAX_API_BODY_BYTES }: BodyLimits = {}): RequestHandler[] {
  const parse = express.urlencoded({
    extended: false,
    inflate: false,
    limit,
    parameterLimit: MAX_FORM_FIELDS,
    type: () => true,
    verify: (_req, _res, bytes) => void decodeFormText(bytes),
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
