import type { ActionResult, PagePayload } from '../../../../shared/engine/wire/payload.ts';
import { ASSET_PREFIX, PAYLOAD_ID, WHOLE_KEY } from '../../../../shared/engine/wire/protocol.ts';
import { encode, toScriptText } from '../../../../shared/engine/wire/wire.ts';
import { sendLastResort } from '../../errors/error-handler.ts';
import { escapeHtml } from '../../errors/escape-html.ts';
import { VisitorGone } from '../../errors/visitor-gone.ts';
import { sendBusy } from '../../protection/busy-page.ts';
import { BOOT_ID } from '../../protection/content-policy.ts';
import { drawRandom } from '../../request/random.ts';
import type { Trace } from '../../request/request-info.ts';
import { inSpan } from '../../request/timings.ts';
import { type LoadedPage, loadPage } from '../load-page.ts';
import type { PageRequest } from '../page-request.ts';
import {
  digestOf,
  type PageExchange,
  type PageServices,
  sendRedirect,
  setPageHeaders,
  setStatus,
} from '../page-response.ts';
import { type EncodedPage, encodePage, toEncodeOptions, toEtag, toStatus } from './encode-page.ts';
import type { PageTarget } from './page-sink.ts';
import { type RenderedPage, renderPage } from './render-page.tsx';

/** 128 bits, as CSP recommends (https://www.w3.org/TR/CSP3/#security-nonces). */
const NONCE_BYTES = 16;

/** Runs guards and loaders, then sends the document. HEAD stops before the render. */
export async function showPage(exchange: PageExchange): Promise<void> {
  const { services, pageRequest } = exchange;
  const loaded = await loadPage({ services, pageRequest, versioned: pageRequest.method !== 'HEAD' });
  if (loaded.kind === 'redirect') sendRedirect(exchange, loaded);
  else if (loaded.kind === 'page') await sendDocument(exchange, loaded);
}

/** Renders the loaded page and streams it. */
export async function sendDocument(exchange: PageExchange, loaded: LoadedPage, action?: ActionResult): Promise<void> {
  const { services, pageRequest, response } = exchange;
  const page = encodePage(exchange, loaded, action);
  const status = toStatus(page.loaded, action);
  const nonce = drawRandom(NONCE_BYTES, 'base64');
  if (pageRequest.method === 'HEAD') {
    setDocumentHeaders(exchange, { payload: page.payload, status, nonce });
    response.end();
    pageRequest.abort(new VisitorGone()); // no one waits for deferred values
    return;
  }
  // A form whose action has run, and a page that shows a failure, are answered even if it takes long.
  const mayRefuse = pageRequest.method === 'GET' && !action && !page.loaded.errors;
  const asked = performance.now();
  const slot = services.limiter?.acquire(pageRequest, mayRefuse);
  if (slot && !(await slot)) {
    if (!(pageRequest.endedBy instanceof VisitorGone)) sendBusy(response.req, response);
    return;
  }
  const { info } = pageRequest;
  info.timings?.add('queue', asked);
  const begun = performance.now();
  const rendered = await inSpan(info, 'render', undefined, () => {
    return renderPage({ services, pageRequest, payload: page.payload, nonce });
  });
  if (rendered.kind === 'gone') return;
  if (rendered.kind === 'redirect') return sendRedirect(exchange, rendered);
  if (rendered.kind === 'last-resort') {
    info.digest = rendered.error.digest;
    return sendLastResort(response.req, response, rendered.error, services.takesFeedback);
  }
  pageRequest.leave();
  info.timings?.add('render', begun);
  if (info.showsTimings) info.timings?.write(response);
  try {
    setDocumentHeaders(exchange, { payload: rendered.payload, status: rendered.error?.status ?? status, nonce });
    // Not awaited: the loaded data must not stay in memory until a slow visitor has read the page.
    void writeDocument({ services, pageRequest, page, rendered, target: response, nonce });
  } catch (error) {
    rendered.render.replace();
    throw error;
  }
}

interface DocumentHead {
  readonly payload: PagePayload;
  readonly status: number;
  readonly nonce: string;
}

function setDocumentHeaders(exchange: PageExchange, { payload, status, nonce }: DocumentHead): void {
  const { services, pageRequest, response } = exchange;
  // A page with a nonce must not be reused for another response: no ETag, and never a 304.
  const mayKeep = status < 400 && pageRequest.method !== 'POST';
  setPageHeaders(exchange, mayKeep ? 'private, no-cache' : 'no-store');
  setStatus(exchange, status, digestOf(payload.errors));
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Security-Policy', services.policy.forNonce(nonce));
  response.setHeader('Content-Security-Policy-Report-Only', services.policy.reportOnly());
  response.setHeader('X-Accel-Buffering', 'no');
}

export interface WrittenDocument {
  readonly services: PageServices;
  readonly pageRequest: PageRequest;
  readonly page: EncodedPage;
  readonly rendered: RenderedPage;
  readonly target: PageTarget;
  /** Absent for a cached page, which starts with the hashed boot script instead. */
  readonly nonce?: string;
  /** Receives each line of the page's data as it is written. */
  readonly lines?: string[];
}

/**
 * Writes a rendered page with its payload. The promise resolves when it was written or abandoned, and never rejects.
 */
export function writeDocument(document: WrittenDocument): Promise<void> {
  const { services, pageRequest, page, rendered, target, nonce, lines } = document;
  // A failed render does not show the loaded page.
  const isAsLoaded = rendered.payload === page.payload;
  const { head, late } = isAsLoaded ? page.encoded : encode(rendered.payload, toEncodeOptions(document));
  lines?.push(head);
  const mayKeep = !late && !rendered.payload.errors;
  const etag = mayKeep ? ` data-etag="${escapeHtml(toEtag(services.manifest, page.loaded.version ?? head))}"` : '';
  return rendered.render.send({
    target,
    lead: toEarlyScript(services, nonce) + (nonce === undefined ? '' : toTraceMeta(pageRequest.info.trace)),
    tail:
      `<script type="application/json" id="${PAYLOAD_ID}"${etag}>${toScriptText(head)}</script>` +
      entryScripts(services, nonce),
    late: late && lines ? keepLines(late, lines) : late,
    whenStreaming: nonce === undefined || pageRequest.whole ? undefined : askForWhole(pageRequest),
  });
}

async function* keepLines(late: AsyncIterable<string>, lines: string[]): AsyncGenerator<string, void> {
  for await (const line of late) {
    lines.push(line);
    yield line;
  }
}

/**
 * A script moves deferred content to its place. Browsers without scripts follow this `<noscript>` to the same page with
 * all of its content.
 */
function askForWhole({ path, search }: PageRequest): string {
  const url = `${path}${search ? `${search}&` : '?'}${WHOLE_KEY}=1`;
  return `<noscript><meta http-equiv="refresh" content="0;url=${escapeHtml(url)}"></noscript>`;
}

function toEarlyScript({ policy }: PageServices, nonce: string | undefined): string {
  if (policy.earlyScript === '') return '';
  return `<script${nonce === undefined ? '' : ` nonce="${nonce}"`}>${policy.earlyScript}</script>`;
}

/** Lets the browser continue the trace of the request for its document (F8). A cached page has no trace. */
function toTraceMeta({ traceId, parentId, sampled, spanId = drawRandom(8, 'hex') }: Trace): string {
  // Nothing is recorded here, so a trace that begins here has no sampling decision yet.
  const [decision, entry] = parentId === undefined ? ['', ''] : [`-${sampled ? 1 : 0}`, `,sentry-sampled=${sampled}`];
  return (
    `<meta name="sentry-trace" content="${traceId}-${spanId}${decision}"/>` +
    `<meta name="baggage" content="sentry-trace_id=${traceId}${entry}"/>`
  );
}

function entryScripts(services: PageServices, nonce: string | undefined): string {
  const { script } = services.manifest.entry;
  if (!script.startsWith(ASSET_PREFIX))
    throw new Error(`The manifest names an entry outside ${ASSET_PREFIX}: build again.`);
  if (nonce !== undefined) return `<script type="module" async nonce="${nonce}" src="${script}"></script>`;
  return (
    `<script type="application/json" id="${BOOT_ID}">${toScriptText(JSON.stringify([script]))}</script>` +
    `<script>${services.policy.bootScript}</script>`
  );
}
