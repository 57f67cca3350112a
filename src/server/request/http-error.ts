import { STATUS_CODES } from 'node:http';
import { types } from 'node:util';
import type { EngineText } from '../../shared/rendering/language.ts';
import { readProperty } from '../../shared/reporting/read-property.ts';
import type { PageError, PageErrorKind } from '../../shared/wire/payload.ts';

/**
 * An error that the request caused; it is never reported. Its message is written for the visitor, and is shown for any
 * status. Without a message, the engine's text for the status is used. In loaders and actions, use `publicError()`.
 */
export class HttpError extends Error {
  readonly status: number;
  /** The message as it was given. */
  readonly words: string | undefined;
  /** Sent with the response, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, words?: string, headers: Readonly<Record<string, string>> = {}) {
    super(words ?? describeStatus(status));
    this.name = 'HttpError';
    this.status = status;
    this.words = words;
    this.headers = headers;
  }
}

export function badRequest(message: string): HttpError {
  return new HttpError(400, message);
}

/** Makes a 404 for an API handler. A loader uses `notFound()`. Its stack is left out, because bots cause many 404s. */
export function notFoundHere(): HttpError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new HttpError(404);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

export function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, undefined, { Allow: allow });
}

export function unsupportedMediaType(message: string): HttpError {
  return new HttpError(415, message);
}

const WORDS: Readonly<Record<number, EngineText>> = {
  400: 'The request is malformed. Check it and send it again.',
  401: 'Sign in to see this.',
  403: 'You do not have access to this.',
  404: 'There is nothing at this address. Check it.',
  405: 'This URL does not accept that method. The Allow header lists the methods that it accepts.',
  408: 'The request did not arrive in time. Send it again.',
  409: 'This has changed in the meantime. Reload it.',
  413: 'The request is too large.',
  414: 'The URL is too long.',
  415: 'This content type is not supported.',
  417: 'The Expect header is not supported.',
  421: 'This server does not answer for that host.',
  422: 'The request is not valid.',
  429: 'Too many requests. Wait a moment and try again.',
  431: 'The request headers are too large.',
  503: 'The server is busy. Try again in a moment.',
};

/** Returns the engine's text for a status, so that a library's message never reaches a visitor. */
export function describeStatus(status: number): string {
  return WORDS[status] ?? `${STATUS_CODES[status] ?? 'Error'}.`;
}

/**
 * Returns what a visitor can see of an `HttpError`, or of a client error that a library marks as exposable
 * (`http-errors`: the errors of body parsers). Undefined for everything else, which is a failure.
 *
 * @param isHandlers a handler threw it or passed it to `next()`. Its message is for the client if `expose` is set
 * @param isExpress a handler of Express, which treats any 4xx as an answer and not a failure, unless it is that of another
 * server to an HTTP client
 */
export function toPublicError(error: unknown, isHandlers = false, isExpress = false): PageError | undefined {
  const status = statusOf(error);
  if (status === undefined) return undefined;
  if (isError(error) && error instanceof HttpError) return toPageError(status, error.words);
  const isExposed = readProperty(error, 'expose') === true;
  if (status >= 500 || !(isExpress || (isExposed && isError(error)))) return undefined;
  if (OF_HTTP_CLIENTS.some((name) => readProperty(error, name) !== undefined)) return undefined;
  const message = isHandlers && isExposed ? readProperty(error, 'message') : undefined;
  return toPageError(status, typeof message === 'string' ? message : undefined);
}

/** Reads `status` or `statusCode` of an error, by Express's rules: an integer from 400 to 599. */
export function statusOf(error: unknown): number | undefined {
  return [readProperty(error, 'status'), readProperty(error, 'statusCode')].find(isErrorStatus);
}

/** What the errors of axios, Octokit, Stripe and OpenAI have. A wrong key at another server is not the visitor's fault. */
const OF_HTTP_CLIENTS = ['request', 'response', 'requestId', 'requestID'];

function isErrorStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600;
}

/** The pages for 401, 403 and 404 have default texts, so they only get a message if one is given. */
function toPageError(status: number, words?: string): PageError {
  const kind = KINDS[status];
  if (!kind) return { kind: 'public', status, message: words ?? describeStatus(status) };
  return words === undefined ? { kind, status } : { kind, status, message: words };
}

const KINDS: Readonly<Record<number, PageErrorKind>> = { 401: 'unauthorized', 403: 'forbidden', 404: 'not-found' };

/** The reason with which a request's signal is aborted when the visitor leaves. It is neither logged nor reported. */
export class VisitorGone extends Error {
  constructor() {
    super('The visitor left before the answer was complete.');
    this.name = 'VisitorGone';
  }
}

/** What `res.sendFile()` and `pipeline()` say if the client leaves. */
const LEFT_CODES = new Set(['ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']);

/**
 * True for the reason itself and for the `AbortError` that Node and `fetch` make of it: one with this cause, or one
 * that was thrown after the request's work had been ended with it, as are those of a download. Never throws.
 */
export function isVisitorGone(error: unknown, endedBy?: unknown): boolean {
  try {
    if (error instanceof VisitorGone) return true;
    if (typeof error !== 'object' || error === null) return false;
    if (endedBy instanceof VisitorGone && 'code' in error && LEFT_CODES.has(error.code as string)) return true;
    if (!('name' in error) || error.name !== 'AbortError') return false;
    return ('cause' in error && error.cause instanceof VisitorGone) || endedBy instanceof VisitorGone;
  } catch {
    return false; // a hostile getter or Proxy
  }
}

/** Never throws, whatever was thrown. */
export function isError(value: unknown): value is Error {
  try {
    return types.isNativeError(value) || value instanceof Error;
  } catch {
    return false; // a revoked Proxy
  }
}
