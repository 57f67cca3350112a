import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { say } from '../../shared/rendering/language.ts';
import { readProperty } from '../../shared/reporting/read-property.ts';
import type { PageError } from '../../shared/wire/payload.ts';
import { DIGEST_HEADER } from '../../shared/wire/protocol.ts';
import { HttpError, statusOf, VisitorGone } from '../request/http-error.ts';
import { isApiPath, isLinkPrefetch } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { brokenResponses, type ErrorHandler } from '../request/step.ts';
import type { Disposition, Funnel } from './funnel.ts';
import { sendLastResort } from './last-resort.ts';
import { API_POLICY, sendProblem } from './problem.ts';

interface ErrorHandlerOptions {
  readonly funnel: Funnel;
  /** Renders the product's page for an error. If it fails or is not given, the last-resort page is sent. */
  readonly renderError?: (req: Request, res: Response, error: PageError) => void | Promise<void>;
}

/** The last step: passes everything that another step threw to the funnel, and answers in the caller's format. */
export function errorHandler({ funnel, renderError }: ErrorHandlerOptions): ErrorHandler {
  // Express recognizes error handlers by their four parameters.
  return function errorHandler(error, req, res, _next): void {
    const info = requestInfo(req);
    const origin = isApiPath(info.path) ? 'api' : 'step';
    const { body } = req as Partial<Request>; // parsed, if a step of Express did so
    const disposition = funnel.fail(error, {
      origin,
      info,
      headers: req.headers,
      body,
      endedBy: isLeft(res) ? new VisitorGone() : undefined,
      isPrefetch: isLinkPrefetch(info),
    });
    if (disposition.kind === 'gone') {
      res.destroy();
      return;
    }
    if (disposition.kind === 'error') info.digest = disposition.error.digest;
    if (res.headersSent) {
      cutOff(res);
      return;
    }
    try {
      answer(error, disposition, req, res);
    } catch {
      cutOff(res); // a step of the product lets no head be written
    }
  };

  function answer(
    error: unknown,
    disposition: Exclude<Disposition, { kind: 'gone' }>,
    req: IncomingMessage,
    res: ServerResponse,
  ): void {
    const info = requestInfo(req);
    clearHeaders(res, disposition.kind === 'error' && disposition.error.kind === 'failure');
    if (disposition.kind === 'redirect') {
      res.statusCode = disposition.status;
      res.setHeader('Location', disposition.location);
      res.end();
      return;
    }
    const shown = withStatus(disposition.error, error, res);
    addHeaders(res, error, { shown, isOperation: info.isOperation });
    if (isApiPath(info.path) || prefersJson(req.headers)) {
      res.setHeader('Content-Security-Policy', API_POLICY);
      sendProblem(res, shown, { instance: shown.digest && funnel.toUrl(shown.digest) });
      return;
    }
    sendPage(req, res, shown);
  }

  function sendPage(req: IncomingMessage, res: ServerResponse, error: PageError): void {
    const { language } = requestInfo(req);
    const shown = error.message === undefined ? error : { ...error, message: say(language, error.message) };
    if (!renderError || error.kind === 'failure') {
      sendLastResort(req, res, error);
      return;
    }
    Promise.resolve()
      // Before Express runs, only failures are thrown, and those were answered above.
      .then(() => renderError(req as Request, res as Response, shown))
      .catch((cause: unknown) => {
        const disposition = funnel.fail(cause, { origin: 'render', info: requestInfo(req), headers: req.headers });
        if (res.headersSent || disposition.kind !== 'error') cutOff(res);
        else sendLastResort(req, res, disposition.error);
      })
      .catch(() => cutOff(res));
  }
}

/** True if the client closed the connection before the reply was complete, and not the code that wrote the reply. */
function isLeft(res: ServerResponse): boolean {
  const isClosed = res.closed || res.socket?.destroyed === true; // first the socket, then the reply
  return isClosed && !res.writableFinished && !res.errored;
}

/** Leaves a complete reply as it is. Ending another would make it look complete. */
function cutOff(res: ServerResponse): void {
  if (res.writableEnded) return;
  brokenResponses.add(res);
  res.destroy();
}

/** As in Express, a failure without a status has that of the response, such as `res.status(503)`. */
function withStatus(shown: PageError, error: unknown, { statusCode }: ServerResponse): PageError {
  const isGiven = shown.kind === 'failure' && statusOf(error) === undefined && statusCode >= 500 && statusCode < 600;
  return isGiven ? { ...shown, status: statusCode } : shown;
}

/** Headers that describe the body. */
const BODY_HEADERS = [
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Length',
  'Content-Range',
  'Content-Type',
  'ETag',
  'Last-Modified',
  'Trailer',
  'Transfer-Encoding',
];

/**
 * Removes what was set for a body that is not sent. The reason phrase too: if it is what Node refused, Node would refuse
 * this reply as well. After a failure also cookies: perhaps only half of them were set.
 */
function clearHeaders(res: ServerResponse, isFailure: boolean): void {
  res.statusMessage = '';
  for (const name of BODY_HEADERS) if (res.hasHeader(name)) res.removeHeader(name);
  if (isFailure) res.removeHeader('Set-Cookie');
  res.setHeader('Cache-Control', 'no-store');
}

/**
 * The only headers of other errors, and only if a handler of Express throws them, such as one that asks for a password:
 * the error of an HTTP client can have another server's headers.
 */
const HARMLESS_HEADERS = /^(?:allow|retry-after|www-authenticate)$/i;
const OUR_HEADERS = /^(?:connection|content-(?:encoding|length|type)|transfer-encoding)$/i;

/** Adds the `headers` of an error that was made for the visitor, as Express does. */
function addHeaders(
  res: ServerResponse,
  error: unknown,
  { shown, isOperation }: { readonly shown: PageError; readonly isOperation: boolean },
): void {
  if (shown.digest) res.setHeader(DIGEST_HEADER, shown.digest);
  const headers = readProperty(error, 'headers');
  if (typeof headers !== 'object' || headers === null) return;
  const isForVisitor =
    shown.kind !== 'failure' && (error instanceof HttpError || readProperty(error, 'expose') === true);
  for (const name of Object.keys(headers)) {
    const isSent = isForVisitor ? !OUR_HEADERS.test(name) : !isOperation && HARMLESS_HEADERS.test(name);
    if (isSent) trySetHeader(res, name, readProperty(headers, name));
  }
}

/** An error can carry anything as its headers. */
function trySetHeader(res: ServerResponse, name: string, value: unknown): void {
  try {
    res.setHeader(name, value as string);
  } catch {
    // Not a valid header.
  }
}

const JSON_TYPE = /\bapplication\/(?:[\w.-]+\+)?json\b/i;

/** A browser that navigates always names `text/html`. A caller that names or sends JSON, and does not name HTML, gets JSON. */
function prefersJson({ accept = '', 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return (JSON_TYPE.test(accept) || JSON_TYPE.test(type)) && !/\btext\/html\b/i.test(accept);
}
