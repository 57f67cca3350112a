import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import type { ActionOutcome, RedirectPayload } from '../../../shared/engine/wire/payload.ts';
import { WIRE_TYPE } from '../../../shared/engine/wire/protocol.ts';
import type { Encoded } from '../../../shared/engine/wire/wire.ts';
import { VisitorGone } from '../errors/visitor-gone.ts';
import { encodePage } from './encode-page.ts';
import { type Loaded, type LoadedPage, loadPage, readVersion, runGuards } from './load-page.ts';
import { isAbsolute, type PageHouse, setPageHeaders } from './page-house.ts';
import { matchesEtag, toEtag } from './payload.ts';
import type { Visit } from './visit.ts';

/** What data of settled values may be kept for: by the browser alone, and only to ask whether it still holds. */
const KEEP_AND_ASK = 'private, no-cache';

/** Answers GET and HEAD of `/_data…`: the same guards and loaders as the document. */
export async function sendPageData(
  house: PageHouse,
  visit: Visit,
  request: ExpressRequest,
  response: ExpressResponse,
): Promise<void> {
  const { pages, funnel } = house;
  const stopped = await runGuards({ visit, pages, funnel });
  if (stopped) {
    const shown =
      'kind' in stopped ? stopped : await loadPage({ visit, pages, funnel, failed: stopped, guarded: true });
    return sendLoaded(house, visit, request, response, shown);
  }
  const version = await readVersion(visit, pages);
  const known = version === undefined ? undefined : toEtag(house.manifest, version);
  if (known && (visit.method === 'HEAD' || matchesEtag(request.headers['if-none-match'], known))) {
    return sendVersion(house, request, response, known);
  }
  const loaded = await loadPage({ visit, pages, funnel, guarded: true });
  return sendLoaded(house, visit, request, response, loaded, known);
}

function sendVersion(house: PageHouse, request: ExpressRequest, response: ExpressResponse, etag: string): void {
  setPageHeaders(response, house, KEEP_AND_ASK);
  response.setHeader('ETag', etag);
  response.setHeader('Content-Type', WIRE_TYPE);
  response.statusCode = matchesEtag(request.headers['if-none-match'], etag) ? 304 : 200;
  response.end();
}

async function sendLoaded(
  house: PageHouse,
  visit: Visit,
  request: ExpressRequest,
  response: ExpressResponse,
  loaded: Loaded,
  version?: string,
): Promise<void> {
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return sendRedirectData(house, visit, response, loaded.location);
  const page = encodePage(house, visit, loaded);
  const { head, late } = page.encoded;
  const etag = late || page.loaded.errors ? undefined : (version ?? toEtag(house.manifest, head));
  setPageHeaders(response, house, etag ? KEEP_AND_ASK : 'no-store');
  if (etag) response.setHeader('ETag', etag);
  visit.timings?.write(response);
  if (etag && matchesEtag(request.headers['if-none-match'], etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  await sendLines(visit, response, page.loaded, page.loaded.status, page.encoded);
}

/** The answer to a form that was posted in the background: what became of it, and the page's fresh data. */
export async function sendActionData(
  house: PageHouse,
  visit: Visit,
  response: ExpressResponse,
  loaded: LoadedPage,
  action?: ActionOutcome,
): Promise<void> {
  const page = encodePage(house, visit, loaded, action);
  const { status } = page.loaded;
  setPageHeaders(response, house, 'no-store');
  await sendLines(visit, response, page.loaded, action && status === 200 ? action.status : status, page.encoded);
}

/** `fetch` would follow a 3xx into a document: where to go is data, with 200. */
export function sendRedirectData(house: PageHouse, visit: Visit, response: ExpressResponse, location: string): void {
  const target = isAbsolute(location) ? undefined : new URL(location, visit.info.origin);
  const reload = !target || !house.matchPage(target.pathname);
  const payload: RedirectPayload = { build: house.manifest.buildId, redirect: location, ...(reload ? { reload } : {}) };
  setPageHeaders(response, house, 'no-store');
  response.statusCode = 200;
  response.setHeader('Content-Type', WIRE_TYPE);
  response.end(`${JSON.stringify({ d: payload })}\n`);
}

/** There is no page: the browser loads a document, and whoever answers that address answers it. */
export function sendNotPage(house: PageHouse, response: ExpressResponse): void {
  setPageHeaders(response, house, 'no-store');
  response.statusCode = 404;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end('{"notPage":true}');
}

async function sendLines(
  visit: Visit,
  response: ExpressResponse,
  loaded: LoadedPage,
  status: number,
  { head, late }: Encoded,
): Promise<void> {
  response.statusCode = status;
  response.setHeader('Content-Type', WIRE_TYPE);
  const digest = Object.values(loaded.errors ?? {}).find((error) => error.digest)?.digest;
  if (digest) {
    visit.info.digest = digest;
    response.setHeader('X-Error-Digest', digest);
  }
  if (visit.method === 'HEAD') {
    response.end();
    if (late) visit.abort(new VisitorGone()); // nobody waits for what is late
    return;
  }
  if (!late) {
    response.end(`${head}\n`);
    return;
  }
  visit.leave();
  response.setHeader('X-Accel-Buffering', 'no');
  const drained = watchDrain(response);
  response.write(`${head}\n`);
  for await (const line of late) {
    if (response.destroyed) return;
    if (!response.write(`${line}\n`)) await drained();
  }
  response.end();
}

/** Listens once for all lines: the compression step passes `on('drain')` to its stream, but no `off()`. */
function watchDrain(response: ExpressResponse): () => Promise<void> {
  let go: (() => void) | undefined;
  for (const event of ['drain', 'close']) response.on(event, () => go?.());
  return () =>
    new Promise((resolve) => {
      go = resolve;
    });
}
