import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import type { RequestHandler } from 'express';
import { MULTIPART } from '../../shared/wire/protocol.ts';
import { MAX_API_BODY_BYTES, MAX_JSON_NODES } from '../limits.ts';
import { bodies } from '../request/body-reader.ts';
import { badRequest, unsupportedMediaType } from '../request/http-error.ts';
import { decodeFormText, isInUtf8, NO_BODY, parseJson, readContentType } from '../request/parse-body.ts';
import { type ReceivedForm, readMultipart, URL_ENCODED } from '../request/read-multipart.ts';

interface BodyLimits {
  /** Bytes; 413 beyond. */
  readonly limit?: number;
}

interface JsonLimits extends BodyLimits {
  /** Keys, values and members; 413 beyond. */
  readonly nodes?: number;
}

/** A request whose body is parsed already, if a step of the product did so. */
type ParsedRequest = IncomingMessage & { body?: unknown };

/**
 * Parses a JSON body. Any other type is 415. Compressed bodies are refused: every available version of Node's
 * Brotli decoder has a vulnerability (CVE-2026-111497), and the other codings allow decompression bombs. A body
 * that is already parsed is left as it is.
 */
export function jsonBody({ limit = MAX_API_BODY_BYTES, nodes = MAX_JSON_NODES }: JsonLimits = {}): RequestHandler[] {
  return [
    async function jsonBody(req, res, next) {
      await readJsonBody(req, res, { limit, nodes });
      next();
    },
  ];
}

/** The same without Express. @returns the parsed body, which is also set as `req.body` */
export async function readJsonBody(
  req: ParsedRequest,
  res: ServerResponse,
  { limit, nodes }: Required<JsonLimits>,
): Promise<unknown> {
  const parse = (bytes: Buffer) => parseJson(bytes, nodes);
  if (Buffer.isBuffer(req.body)) {
    req.body = parse(req.body);
  } else if (req.body === undefined) {
    requireBody(req, 'application/json');
    req.body = await bodies.read({ req, res, limit }, parse);
  }
  return req.body;
}

/** Reads a form with files, which must be removed after the response. Undefined if the body is of another type. */
export async function readParts(
  req: ParsedRequest,
  res: ServerResponse,
  limit: number,
): Promise<ReceivedForm | undefined> {
  const type = readContentType(req);
  if (type?.essence !== MULTIPART) return undefined;
  requireBody(req, MULTIPART);
  const received = await readMultipart({ req, res, boundary: type.params.get('boundary') ?? '', limit });
  req.body = received.form;
  return received;
}

/** Parses `application/x-www-form-urlencoded` into flat fields. Any other type is 415. */
export function formBody({ limit = MAX_API_BODY_BYTES }: BodyLimits = {}): RequestHandler[] {
  return [
    async function formBody(req, res, next) {
      if (req.body === undefined) {
        requireBody(req, URL_ENCODED);
        req.body = await bodies.read({ req, res, limit }, (bytes) =>
          parseQuery(decodeFormText(bytes), '&', '=', { maxKeys: 0 }),
        );
      }
      next();
    },
  ];
}

function requireBody(req: IncomingMessage, wanted: string): void {
  const type = readContentType(req);
  if (type?.essence !== wanted || !isInUtf8(type)) throw unsupportedMediaType(`Send ${wanted} in UTF-8.`);
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw unsupportedMediaType('Send the body without Content-Encoding.');
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  if (isEmpty) throw badRequest(NO_BODY);
}
