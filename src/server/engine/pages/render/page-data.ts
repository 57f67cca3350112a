import type { Response as ExpressResponse } from 'express';
import type { ActionResult, RedirectPayload } from '../../../../shared/engine/wire/payload.ts';
import { WIRE_TYPE } from '../../../../shared/engine/wire/protocol.ts';
import type { Encoded } from '../../../../shared/engine/wire/wire.ts';
import { VisitorGone } from '../../errors/visitor-gone.ts';
import { matchesEtag } from '../../request/etag.ts';
import { type Loaded, type LoadedPage, loadPage, readVersion, runGuards } from '../load-page.ts';
import { digestOf, isAbsolute, type PageExchange, setPageHeaders, setStatus } from '../page-response.ts';
import { encodePage, toEtag, toStatus } from './encode-page.ts';

/** Caching of data without deferred values: only in the browser, and only for conditional requests. */
const KEEP_AND_ASK = 'private, no-cache';

/** Answers GET and HEAD of `/_data…`, with the same guards and loaders as the document. */
export async function sendPageData(exchange: PageExchange): Promise<void> {
  const { services, pageRequest, response } = exchange;
  const loading = { services, pageRequest };
  const stopped = await runGuards(loading);
  if (stopped) {
    const isOver = 'kind' in stopped;
    return sendLoaded(exchange, isOver ? stopped : await loadPage({ ...loading, failed: stopped, guarded: true }));
  }
  const version = await readVersion(pageRequest, services.pages);
  const etag = version === undefined ? undefined : toEtag(services.manifest, version);
  if (etag && (pageRequest.method === 'HEAD' || isKnown(response, etag))) {
    setPageHeaders(exchange, KEEP_AND_ASK);
    response.setHeader('ETag', etag);
    response.setHeader('Content-Type', WIRE_TYPE);
    response.statusCode = isKnown(response, etag) ? 304 : 200;
    response.end();
    return;
  }
  return sendLoaded(exchange, await loadPage({ ...loading, guarded: true }), etag);
}

async function sendLoaded(exchange: PageExchange, loaded: Loaded, version?: string): Promise<void> {
  const { services, pageRequest, response } = exchange;
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return sendRedirectData(exchange, loaded.location);
  const page = encodePage(exchange, loaded);
  const { head, late } = page.encoded;
  const etag = late || page.loaded.errors ? undefined : (version ?? toEtag(services.manifest, head));
  setPageHeaders(exchange, etag ? KEEP_AND_ASK : 'no-store');
  if (etag) response.setHeader('ETag', etag);
  if (pageRequest.info.showsTimings) pageRequest.info.timings?.write(response);
  if (etag && isKnown(response, etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  setStatus(exchange, page.loaded.status, digestOf(page.loaded.errors));
  await sendLines(exchange, page.encoded);
}

function isKnown({ req }: ExpressResponse, etag: string): boolean {
  return matchesEtag(req.headers['if-none-match'], etag);
}

/** Answers a form that was posted in the background, with the action's result and the page's fresh data. */
export async function sendActionData(exchange: PageExchange, loaded: LoadedPage, action?: ActionResult): Promise<void> {
  const page = encodePage(exchange, loaded, action);
  setPageHeaders(exchange, 'no-store');
  setStatus(exchange, toStatus(page.loaded, action), digestOf(page.loaded.errors));
  await sendLines(exchange, page.encoded);
}

/** Sends a redirect as data with 200, because `fetch` would follow a 3xx into a document. */
export function sendRedirectData(exchange: PageExchange, location: string): void {
  const { services, pageRequest, response } = exchange;
  const target = isAbsolute(location) ? undefined : new URL(location, pageRequest.info.origin);
  const reload = !target || !services.matchPage(target.pathname);
  const payload: RedirectPayload = {
    build: services.manifest.buildId,
    redirect: location,
    ...(reload ? { reload } : {}),
  };
  setPageHeaders(exchange, 'no-store');
  response.statusCode = 200;
  response.setHeader('Content-Type', WIRE_TYPE);
  response.end(`${JSON.stringify({ d: payload })}\n`);
}

/** Answers that this URL is not a page, so that the browser loads it as a document. */
export function sendNotPage(answer: Pick<PageExchange, 'services' | 'response'>): void {
  const { response } = answer;
  setPageHeaders(answer, 'no-store');
  response.statusCode = 404;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end('{"notPage":true}');
}

async function sendLines({ pageRequest, response }: PageExchange, { head, late }: Encoded): Promise<void> {
  response.setHeader('Content-Type', WIRE_TYPE);
  if (pageRequest.method === 'HEAD') {
    response.end();
    if (late) pageRequest.abort(new VisitorGone()); // no one waits for deferred values
    return;
  }
  if (!late) {
    response.end(`${head}\n`);
    return;
  }
  pageRequest.leave();
  response.setHeader('X-Accel-Buffering', 'no');
  const drained = watchDrain(response);
  response.write(`${head}\n`);
  for await (const line of late) {
    if (response.destroyed) return;
    if (!response.write(`${line}\n`)) await drained();
  }
  response.end();
}

/** Listens once for all lines: the compression step passes `on('drain')` to its stream, but has no `off()`. */
function watchDrain(response: ExpressResponse): () => Promise<void> {
  let go: (() => void) | undefined;
  for (const event of ['drain', 'close']) response.on(event, () => go?.());
  return () =>
    new Promise((resolve) => {
      go = resolve;
    });
}
