import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response as ExpressResponse } from 'express';
import { toLocalLocation } from '../../shared/routing/control-flow.ts';
import type { Encoded } from '../../shared/wire/encode.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import { BUILD_HEADER, DIGEST_HEADER, NDJSON_TYPE } from '../../shared/wire/protocol.ts';
import { VisitorGone } from '../request/http-error.ts';
import { matchesEtag } from '../request/request-headers.ts';
import { requestInfo } from '../request/request-info.ts';
import { HTML_TYPE } from '../request/send-body.ts';
import { POST_METHODS, READ_METHODS } from '../request/step.ts';
import type { Redirect } from './load-page.ts';
import type { PageMatch } from './match-page.ts';
import type { PageRequest } from './page-request.ts';
import type { LoadedPageApp, PageRuntime } from './page-runtime.ts';
import type { VisitorShell } from './shell/visitor-shell.ts';
import type { VisitorPageRequest } from './visitor-page.ts';

/** What a response without a page request needs. */
export interface Answer {
  readonly runtime: PageRuntime;
  readonly response: ServerResponse;
}

/** One request that is answered with a page, its data or the result of an action. */
export interface PageExchange extends Answer {
  readonly pageRequest: PageRequest;
  readonly response: ExpressResponse;
  /** For a page with `mode: 'shell'`. */
  readonly shell?: VisitorShell | undefined;
}

/** The same for one visitor, who can post a form. */
export interface VisitorExchange extends PageExchange {
  readonly pageRequest: VisitorPageRequest;
}

/** Returns the `Allow` of a page, which accepts posts if one of its routes has an action. */
export function toAllowed({ pages }: LoadedPageApp, { ids }: PageMatch): string {
  return ids.some((id) => pages[id]?.actions) ? POST_METHODS : READ_METHODS;
}

/** Caching of what is made for one visitor: only in the browser, and only for conditional requests. */
export const PRIVATE_CACHING = 'private, no-cache';
/** Caching of what is the same for everyone: in every cache, for conditional requests. */
export const PUBLIC_CACHING = 'public, no-cache';

/**
 * Makes a page private if it is sent with a cookie of a step, because a cache would give it to others. The step must run
 * before those of the product: a session sets its cookie as late as in `writeHead`.
 */
export function keepCookiesPrivate(_req: IncomingMessage, res: ServerResponse, next: () => void): void {
  const { writeHead } = res;
  res.writeHead = (...args: unknown[]) => {
    if (res.hasHeader('Set-Cookie') && res.getHeader('Cache-Control') === PUBLIC_CACHING)
      res.setHeader('Cache-Control', PRIVATE_CACHING);
    return Reflect.apply(writeHead, res, args);
  };
  next();
}

/** Sets the headers that every answer of the page engine has. */
export function setPageHeaders({ runtime, response }: Answer, cacheControl: string): void {
  response.setHeader(BUILD_HEADER, runtime.server.manifest.buildId);
  response.setHeader('Cache-Control', runtime.app.settings.isSecret ? 'no-store' : cacheControl);
}

interface DocumentHead {
  readonly payload: PagePayload;
  readonly status: number;
  readonly nonce: string;
}

/** Sets status and headers of a document that is made for one request. */
export function setDocumentHeaders(answer: Answer, { payload, status, nonce }: DocumentHead): void {
  const { response } = answer;
  const { policy } = answer.runtime.server;
  // A page with a nonce must not be reused for another response: no ETag, and never a 304.
  const canCache = status < 400 && response.req.method !== 'POST';
  setPageHeaders(answer, canCache ? PRIVATE_CACHING : 'no-store');
  setStatus(answer, status, digestOf(payload.errors));
  response.setHeader('Content-Type', HTML_TYPE);
  response.setHeader('Content-Security-Policy', policy.forNonce(nonce));
  response.setHeader('Content-Security-Policy-Report-Only', policy.reportOnly());
  response.setHeader('X-Accel-Buffering', 'no');
}

const UNAVAILABLE = 503;
/** When a client can ask again for a page that is not available (s). */
const PAGE_RETRY_AFTER = 5;

/** Sets the status and the digest of a failure, for the visitor and for the log. */
export function setStatus({ response }: Answer, status: number, digest: string | undefined): void {
  response.statusCode = status;
  if (status === UNAVAILABLE && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', PAGE_RETRY_AFTER);
  if (!digest) return;
  requestInfo(response.req).digest = digest;
  response.setHeader(DIGEST_HEADER, digest);
}

/** Returns the address of the failure that a page shows. */
export function digestOf(errors: PagePayload['errors'] = {}): string | undefined {
  return Object.values(errors).find((error) => error.digest)?.digest;
}

/** Redirects the visitor. `redirect()` has checked the location already, and it is checked again here. */
export function sendRedirect(answer: Answer, { status, location }: Pick<Redirect, 'status' | 'location'>): void {
  const { response } = answer;
  setPageHeaders(answer, 'no-store');
  response.statusCode = status;
  response.setHeader('Location', isAbsolute(location) ? location : toLocalLocation(location));
  response.end();
}

export function isAbsolute(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

/** Whether the browser has the data of this tag. */
export function isKnown({ req }: ExpressResponse, etag: string): boolean {
  return matchesEtag(req.headers['if-none-match'], etag);
}

/** Sends page data. @param encoded without a head, only lines of deferred values are sent */
export async function sendEncoded(
  { pageRequest, response }: PageExchange,
  { head, deferred }: Pick<Encoded, 'deferred'> & Partial<Encoded>,
): Promise<void> {
  response.setHeader('Content-Type', NDJSON_TYPE);
  if (pageRequest.method === 'HEAD') {
    response.end();
    if (deferred) pageRequest.abort(new VisitorGone()); // no one waits for deferred values
    return;
  }
  if (!deferred) {
    response.end(`${head}\n`);
    return;
  }
  pageRequest.leave();
  response.setHeader('X-Accel-Buffering', 'no');
  const drained = watchDrain(response);
  if (head === undefined) response.flushHeaders();
  else response.write(`${head}\n`);
  for await (const line of deferred) {
    if (response.destroyed) return;
    if (!response.write(`${line}\n`)) await drained();
  }
  response.end();
}

/** Listens once for all lines. */
function watchDrain(response: ExpressResponse): () => Promise<void> {
  let go: (() => void) | undefined;
  for (const event of ['drain', 'close']) response.on(event, () => go?.());
  return () =>
    new Promise((resolve) => {
      go = resolve;
    });
}
