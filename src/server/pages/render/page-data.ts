import type { ActionResult, RedirectPayload } from '../../../shared/wire/payload.ts';
import { NDJSON_TYPE } from '../../../shared/wire/protocol.ts';
import {
  type Loaded,
  type LoadedPage,
  loadGuarded,
  type Redirect,
  readVersion,
  runGuards,
  type Stopped,
} from '../load-page.ts';
import {
  digestOf,
  isAbsolute,
  isKnown,
  type PageExchange,
  PRIVATE_CACHING,
  sendEncoded,
  setPageHeaders,
  setStatus,
} from '../page-response.ts';
import { encodePage, toEtag, toStatus } from './encode-page.ts';

/** Answers GET and HEAD of `/_data…`, with the same guards and loaders as the document. */
export async function sendPageData(exchange: PageExchange): Promise<void> {
  await sendGuardedData(exchange, await runGuards(exchange));
}

/** Sends the data of a page whose guards have run. @param stopped how one of them stopped it */
export async function sendGuardedData(exchange: PageExchange, stopped: Stopped | undefined): Promise<void> {
  const { runtime, pageRequest, response } = exchange;
  if (stopped) return sendLoaded(exchange, await loadGuarded(exchange, stopped));
  const version = await readVersion(pageRequest, runtime.app.pages);
  const etag = version === undefined ? undefined : toEtag(runtime.server.manifest, version);
  if (etag && (pageRequest.method === 'HEAD' || isKnown(response, etag))) {
    setPageHeaders(exchange, PRIVATE_CACHING);
    response.setHeader('ETag', etag);
    response.setHeader('Content-Type', NDJSON_TYPE);
    response.statusCode = isKnown(response, etag) ? 304 : 200;
    response.end();
    return;
  }
  return sendLoaded(exchange, await loadGuarded(exchange, undefined), etag);
}

async function sendLoaded(exchange: PageExchange, loaded: Loaded, version?: string): Promise<void> {
  const { runtime, pageRequest, response } = exchange;
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return sendRedirectData(exchange, loaded);
  const page = encodePage(exchange, loaded);
  const { head, deferred } = page.encoded;
  const etag = deferred || page.loaded.errors ? undefined : (version ?? toEtag(runtime.server.manifest, head));
  setPageHeaders(exchange, etag ? PRIVATE_CACHING : 'no-store');
  if (etag) response.setHeader('ETag', etag);
  pageRequest.info.timings?.write(response);
  if (etag && isKnown(response, etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  setStatus(exchange, page.loaded.status, digestOf(page.loaded.errors));
  await sendEncoded(exchange, page.encoded);
}

/** Answers a form that was posted in the background, with the action's result and the page's fresh data. */
export async function sendActionData(exchange: PageExchange, loaded: LoadedPage, action?: ActionResult): Promise<void> {
  const page = encodePage(exchange, loaded, action);
  setPageHeaders(exchange, 'no-store');
  setStatus(exchange, toStatus(page.loaded, action), digestOf(page.loaded.errors));
  await sendEncoded(exchange, page.encoded);
}

/** Sends a redirect as data with 200, because `fetch` would follow a 3xx into a document. */
export function sendRedirectData(exchange: PageExchange, { location, isUnsent }: Redirect): void {
  const { runtime, pageRequest, response } = exchange;
  const target = isAbsolute(location) ? undefined : new URL(location, pageRequest.info.origin);
  const reload = !target || !runtime.app.matchPage(target.pathname);
  const payload: RedirectPayload = {
    build: runtime.server.manifest.buildId,
    redirect: location,
    ...(reload ? { reload } : {}),
    ...(isUnsent ? { unsent: true } : {}),
  };
  setPageHeaders(exchange, 'no-store');
  response.statusCode = 200;
  response.setHeader('Content-Type', NDJSON_TYPE);
  response.end(`${JSON.stringify({ d: payload })}\n`);
}

/** Answers that this URL is not a page, so that the browser loads it as a document. */
export function sendNotPage(answer: Pick<PageExchange, 'runtime' | 'response'>): void {
  const { response } = answer;
  setPageHeaders(answer, 'no-store');
  response.statusCode = 404;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end('{"notPage":true}');
}
